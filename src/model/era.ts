/** Legacy: a session opened by `initialize`. Modern: every request carries its own envelope. */
export type Era = "legacy" | "modern";

/** Newest first. */
export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const MODERN_REVISIONS = ["2026-07-28"] as const;

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type ModernRevision = (typeof MODERN_REVISIONS)[number];

export const NEWEST_LEGACY: LegacyRevision = "2025-11-25";
export const NEWEST_MODERN: ModernRevision = "2026-07-28";

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === value);
}

export function isModernRevision(value: unknown): value is ModernRevision {
  return MODERN_REVISIONS.some((revision) => revision === value);
}

/** Revisions are dates, so their order is the order of their strings. */
export function isAtLeast(revision: LegacyRevision, other: LegacyRevision): boolean {
  return revision >= other;
}
