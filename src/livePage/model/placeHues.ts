/** Colours of places, in the order in which the places appear. */

/** Number of colours. */
export const HUES = 8;
/** Places that are remembered; those beyond share the first colour. */
export const MAX_HUED = 256;

export interface PlaceHues {
  /** Returns the index of the place's colour. */
  of(place: string): number;
  /** Places that have been asked for, in that order. */
  readonly seen: readonly string[];
}

/** Starts without places. `appeared` hears of each new one. */
export function createPlaceHues(appeared: () => void): PlaceHues {
  const hues = new Map<string, number>();
  const seen: string[] = [];
  return {
    seen,
    of(place) {
      const known = hues.get(place);
      if (known !== undefined) return known;
      if (seen.length >= MAX_HUED) return 0;
      const hue = seen.length % HUES;
      hues.set(place, hue);
      seen.push(place);
      appeared();
      return hue;
    },
  };
}
