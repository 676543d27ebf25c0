import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../src/core/ids.ts";
import type { PodOutput } from "../../../src/pipelines/podOutputs.ts";
import { podStatus } from "../../../src/pipelines/podStatus.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { marbles } from "../../support/marbles.ts";

const status = (uid: string, phase: string): PodOutput => ({ kind: "status", uid: podUid(uid), status: { phase } });
const outputs = {
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
      const { podStatuses } = createNodeState();
      const outputs$ = hot("-a-a-b-c-i-f-b-", outputs);
      const told$ = podStatus({ outputs$ }, podStatuses).pipe(map(({ uid, status: { phase } }) => `${uid} ${phase}`));
      expectObservable(told$, "15ms !").toBe("-a---b-c", { a: "x Pending", b: "x Running", c: "y Running" });
      expectSubscriptions(outputs$).toBe("^ 14ms !");
      flush();
      expect(podStatuses.values()).toEqual([{ phase: "Running" }, { phase: "Running" }]);
    }),
  );

  it(
    "forgets a removed pod, and emits the same status again if it returns",
    marbles(({ hot, expectObservable, flush }) => {
      const { podStatuses } = createNodeState();
      const sizes: number[] = [];
      const told$ = podStatus({ outputs$: hot("-a-r-a-r", outputs) }, podStatuses).pipe(map(({ uid }) => uid));
      podStatuses.anyChange$.subscribe({ next: () => sizes.push(podStatuses.size) });
      expectObservable(told$, "10ms !").toBe("-x---x", { x: "x" });
      flush();
      expect(sizes).toEqual([1, 0, 1, 0]);
    }),
  );

  it(
    "updates the cell before it emits the status",
    marbles(({ hot, expectObservable }) => {
      const { podStatuses } = createNodeState();
      const told$ = podStatus({ outputs$: hot("-a-b", outputs) }, podStatuses).pipe(
        map(({ uid, status: { phase } }) => phase === podStatuses.get(uid)?.phase),
      );
      expectObservable(told$, "5ms !").toBe("-t-t", { t: true });
    }),
  );

  it(
    "passes an error on: outputs of workers never have one but for a broken invariant",
    marbles(({ hot, expectObservable }) => {
      expectObservable(podStatus({ outputs$: hot("-#") }, createNodeState().podStatuses)).toBe("-#");
    }),
  );
});
