import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../src/core/ids.ts";
import type { PodOutput } from "../../../src/pipelines/podOutputs.ts";
import { podStatus } from "../../../src/pipelines/podStatus.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { marbles } from "../../support/marbles.ts";

const status = (uid: string, phase: string): PodOutput => ({ kind: "status", uid: podUid(uid), status: { phase } });
const values = {
  a: status("x", "Pending"),
  b: status("x", "Running"),
  c: status("y", "Running"),
  r: { kind: "removed", uid: podUid("x") },
  i: { kind: "inspect", uid: podUid("x") },
  f: { kind: "finished", uid: podUid("x") },
} satisfies Readonly<Record<string, PodOutput>>;

describe("podStatus", () => {
  it(
    "keeps the newest status of each pod and emits only semantic changes",
    marbles(({ hot, expectObservable, expectSubscriptions, flush }) => {
      const outputs = "    -a-a-b-c-i-f-b-";
      const outputsSubs = "^ 14ms !";
      const unsub = "      15ms !";
      const expected = "   -a---b-c";

      const { podStatuses } = createNodeState();
      const outputs$ = hot(outputs, values);
      const told$ = podStatus({ outputs$ }, podStatuses).pipe(map(({ uid, status: { phase } }) => `${uid} ${phase}`));
      expectObservable(told$, unsub).toBe(expected, { a: "x Pending", b: "x Running", c: "y Running" });
      expectSubscriptions(outputs$).toBe(outputsSubs);
      flush();
      expect(podStatuses.values()).toEqual([{ phase: "Running" }, { phase: "Running" }]);
    }),
  );

  it(
    "forgets a removed pod, and emits the same status again if it returns",
    marbles(({ hot, expectObservable, flush }) => {
      const outputs = " -a-r-a-r";
      const unsub = "   10ms !";
      const expected = "-x---x";

      const { podStatuses } = createNodeState();
      const sizes: number[] = [];
      const told$ = podStatus({ outputs$: hot(outputs, values) }, podStatuses).pipe(map(({ uid }) => uid));
      podStatuses.anyChange$.subscribe({ next: () => sizes.push(podStatuses.size) });
      expectObservable(told$, unsub).toBe(expected, { x: "x" });
      flush();
      expect(sizes).toEqual([1, 0, 1, 0]);
    }),
  );

  it(
    "updates the cell before it emits the status",
    marbles(({ hot, expectObservable }) => {
      const outputs = " -a-b";
      const unsub = "   5ms !";
      const expected = "-t-t";

      const { podStatuses } = createNodeState();
      const told$ = podStatus({ outputs$: hot(outputs, values) }, podStatuses).pipe(
        map(({ uid, status: { phase } }) => phase === podStatuses.get(uid)?.phase),
      );
      expectObservable(told$, unsub).toBe(expected, { t: true });
    }),
  );

  it(
    "passes an error on: outputs of workers never have one but for a broken invariant",
    marbles(({ hot, expectObservable }) => {
      const outputs = " -#";
      const expected = "-#";

      expectObservable(podStatus({ outputs$: hot(outputs) }, createNodeState().podStatuses)).toBe(expected);
    }),
  );
});
