/**
 * What becomes of a feature on its way across: carried as it is, carried in another form, answered by
 * the bridge in the other side's place, refused with an error, or lost.
 */
export type Fate = "same" | "translated" | "answered-here" | "refused" | "lost";

export interface Crossing {
  readonly fate: Fate;
  /** One sentence for people who run the bridge. */
  readonly how: string;
}

/** One difference between the eras: a row of the compatibility matrix, made of the file it stands in. */
export interface Rule {
  /** Also the name of the rule's file and, with `.test.ts`, of its test. */
  readonly id: string;
  readonly feature: string;
  /** A modern client in front of a legacy server. */
  readonly modernClient: Crossing;
  /** A legacy client in front of a modern server. */
  readonly legacyClient: Crossing;
  /** What cannot be kept, and where that becomes visible; "none" where nothing is lost. */
  readonly loss: string;
  /** Pages of the specification, as `revision/path`. */
  readonly spec: readonly string[];
  /** Methods, capabilities and fields by which `erabridge explain` finds the row. */
  readonly about: readonly string[];
}
