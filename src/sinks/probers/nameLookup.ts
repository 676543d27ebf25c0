/**
 * Name look-ups of probes and hooks. A look-up holds a thread of libuv's pool until the name server answers, and the pool
 * gives look-ups half of its threads: the kubelet's own connections keep theirs. Bounds: MAX_LOOKUPS, MAX_WAITING.
 */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";

const MAX_LOOKUPS = 4;
/** Names that wait for their turn. */
const MAX_WAITING = 1_024;

type Answer = Parameters<LookupFunction>[2];

/** Shares one lookup per name among concurrent callers; fails with EAI_AGAIN beyond the bounds. Skips IP addresses. */
export function createNameLookup(lookUp: LookupFunction = lookup): LookupFunction {
  const asking = new Map<string, Answer[]>();
  const waiting: (() => void)[] = [];
  let running = 0;
  return (name, options, answer) => {
    const { family, hints, all, order } = options;
    const key = JSON.stringify([name, family, hints, all, order]);
    const others = asking.get(key);
    if (others !== undefined) {
      others.push(answer);
      return;
    }
    if (waiting.length >= MAX_WAITING) {
      const error = Object.assign(new Error(`${MAX_WAITING} names wait to be looked up`), { code: "EAI_AGAIN" });
      answer(error, "");
      return;
    }
    const answers = [answer];
    asking.set(key, answers);
    const start = (): void => {
      running += 1;
      lookUp(name, options, (...found) => {
        running -= 1;
        asking.delete(key);
        waiting.shift()?.();
        for (const each of answers) each(...found);
      });
    };
    if (running < MAX_LOOKUPS) start();
    else waiting.push(start);
  };
}
