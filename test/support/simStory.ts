/** A simulated node's trace cut down to what a test is about: one pod, some kinds of lines, tenths of seconds. */
import type { SimNode } from "../../src/sim/simNode.ts";

const LINE = /^ *(\d+\.\d{3}) {2}(\w+) +(.*)$/;

/**
 * Lines about `namespace/pod` that match `wanted`, as `12.3 main exited code 0`: without the pod's name, container IDs
 * and attempts; calls, changes and events look alike. `sinceMs` leaves out what was before.
 */
export function simStory({ trace }: SimNode, pod: string, wanted: RegExp, sinceMs = 0): readonly string[] {
  return trace.lines.flatMap((line) => {
    const [, at = "", kind = "", text = ""] = LINE.exec(line) ?? [];
    const rest = text.startsWith(pod) ? text.slice(pod.length).replace(/^[/ ]/, "") : undefined;
    if (rest === undefined || Number(at) * 1000 < sinceMs || !wanted.test(`${kind} ${rest}`)) return [];
    const plain = rest
      .replace(/ [0-9a-f]{13}\b/, "")
      .replace(/^(Normal|Warning) /, "")
      .replace(/ container (started|exited)/, " $1");
    return [`${(Math.floor(Number(at) * 10) / 10).toFixed(1)} ${plain}`];
  });
}
