/**
 * The few host names the core may use. Whatever is not declared here does not exist in `src/`:
 * adding a name is a decision about what the core depends on.
 */

interface AbortSignal {
  readonly aborted: boolean;
  addEventListener(
    type: "abort",
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { new (): AbortController };

interface TextDecoder {
  decode(input?: Uint8Array, options?: { readonly stream?: boolean }): string;
}
declare var TextDecoder: {
  new (
    label?: string,
    options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean },
  ): TextDecoder;
};

interface TextEncoder {
  encode(input?: string): Uint8Array;
}
declare var TextEncoder: { new (): TextEncoder };

interface URL {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly host: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
}
declare var URL: {
  new (url: string, base?: string): URL;
  canParse(url: string, base?: string): boolean;
};

declare function queueMicrotask(callback: () => void): void;
