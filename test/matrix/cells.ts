import type { Era } from "../../src/index.js";
import type { Story } from "./story.js";

/** One side of a bridge: who speaks there, and over what. */
export interface Side {
  readonly era: Era;
  readonly transport: "stdio" | "http";
}

/** A client, a bridge and a server. */
export interface Cell {
  readonly name: string;
  readonly client: Side;
  readonly server: Side;
}

export const sides: readonly Side[] = [
  { era: "modern", transport: "stdio" },
  { era: "modern", transport: "http" },
  { era: "legacy", transport: "stdio" },
  { era: "legacy", transport: "http" },
];

export const nameOfSide = ({ era, transport }: Side): string => `${era} ${transport}`;

/** Every pair of sides; there is none that cannot exist. */
export const cells: readonly Cell[] = sides.flatMap((client) =>
  sides.map((server) => ({
    name: `${nameOfSide(client)} client, ${nameOfSide(server)} server`,
    client,
    server,
  })),
);

/** Something that a rule of the compatibility matrix makes different from the direct run. */
export interface Difference {
  /** The rule's id in `compat-matrix.md`. */
  readonly rule: string;
  readonly client: Era;
  readonly server: Era;
  /** What the direct run's story becomes. */
  readonly change: (story: Story) => Story;
}

/** All that may differ from a direct run with the same server. */
export const differences: readonly Difference[] = [
  {
    rule: "error-codes",
    client: "modern",
    server: "legacy",
    change: ({ errors, ...story }) => {
      const data = { uri: "test://nowhere" };
      return { ...story, errors: { ...errors, noResource: { code: -32602, data } } };
    },
  },
];

/** A story with a server as a client of this era lives through it, the named differences included. */
export function acrossEras(story: Story, client: Era, server: Era): Story {
  return differences
    .filter((each) => each.client === client && each.server === server)
    .reduce((told, { change }) => change(told), story);
}
