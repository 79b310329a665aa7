import type { Principal } from "../model/caller.js";
import type { HttpHeaders } from "./http.js";

export type Authentication =
  | { readonly type: "accepted"; readonly principal: Principal; readonly anonymous: boolean }
  | {
      readonly type: "refused";
      readonly status: 401 | 403;
      readonly headers: HttpHeaders;
      readonly reason: string;
    };

/** Decides who sends an HTTP request. Called for every request, retries and streams included. */
export type Authenticator = (headers: HttpHeaders) => Promise<Authentication> | Authentication;
