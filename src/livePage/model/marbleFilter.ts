/** The filter of the diagram: words that must all occur in a marble, or in the name of its pod. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";

/** Characters and words that a filter takes. */
const MAX_FILTER = 200;
const MAX_WORDS = 8;

export type MarbleFilter = (marble: LiveMarble, podName: string) => boolean;

/** Returns undefined for a filter without words: it shows everything. Case does not matter. */
export function marbleFilter(text: string): MarbleFilter | undefined {
  const words = text.slice(0, MAX_FILTER).toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  return (marble, podName) => {
    const { place, part = "", outcome = "" } = marble;
    const searched = `${podName}\n${place}\n${part}\n${outcome}\n${marble.text}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
}
