/** Hints of the runtime beside calls of our own that make the change, one frame a millisecond. */
import { EMPTY, ignoreElements, merge, type Observable, switchMap, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import * as cri from "../../../../src/gen/cri.ts";
import { orElse } from "../../../../src/operators/orElse.ts";
import { createOwnChanges } from "../../../../src/pipelines/runtime/ownChanges.ts";
import type { RuntimeService } from "../../../../src/ports/cri.ts";
import type { RuntimeChange, RuntimeSignal } from "../../../../src/ports/kubeletPorts.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

const LOST = kubeletError("DeadlineExceeded", "no answer");

const hint = (containerId: string, change: RuntimeChange | undefined, uid = "p1"): RuntimeSignal => ({
  kind: "hint",
  podUid: podUid(uid),
  containerId,
  change,
  aheadOfStatus: false,
});
const signals: Readonly<Record<string, RuntimeSignal>> = {
  o: { kind: "opening" },
  c: hint("c1", "created"),
  s: hint("c1", "started"),
  e: hint("c1", "stopped"),
  d: hint("c1", "deleted"),
  k: hint("c1", undefined),
  x: hint("c2", "stopped"),
  n: hint("c2", "created"),
  f: hint("c9", "created", "p9"),
};

type Method = keyof RuntimeService;

const metadata = { name: "n", namespace: "ns", uid: "p1", attempt: 0 };
const sandboxConfig = cri.PodSandboxConfig.create({ metadata });
const REQUESTS = {
  runPodSandbox: cri.RunPodSandboxRequest.create({ config: sandboxConfig }),
  createContainer: cri.CreateContainerRequest.create({ sandboxConfig }),
  startContainer: { containerId: "c1" },
  stopContainer: { containerId: "c1", timeout: 0n },
  removeContainer: { containerId: "c1" },
  stopPodSandbox: { podSandboxId: "c1" },
  removePodSandbox: { podSandboxId: "c1" },
} as const;
const ANSWER = { containerId: "c1", podSandboxId: "c1" };

interface Scene {
  /** Hints of the runtime, in the letters of `signals`. */
  readonly hints: string;
  /** When calls are made, and the end of each, counted from its begin. */
  readonly calls: string;
  readonly ends: string;
}

/** The hints that pass beside calls of a method. */
function passed(m: Marbles, method: keyof typeof REQUESTS, { hints, calls, ends }: Scene): Observable<RuntimeSignal> {
  const call = () => m.cold(ends, { a: ANSWER }, LOST);
  const { noted, others$ } = createOwnChanges({
    runtime: { [method]: call } as unknown as RuntimeService,
    runtimeSignals$: m.cold(hints, signals),
  });
  const made = (): Observable<unknown> =>
    (noted.runtime[method] as (request: unknown) => Observable<unknown>)(REQUESTS[method]);
  const made$ = m.cold(calls).pipe(switchMap(() => made().pipe(orElse(() => EMPTY))));
  return merge(others$, made$.pipe(ignoreElements()));
}

const MAKING: readonly (readonly [Method, string])[] = [
  ["createContainer", "c"],
  ["startContainer", "s"],
  ["stopContainer", "e"],
  ["removeContainer", "d"],
  ["stopPodSandbox", "e"],
  ["removePodSandbox", "d"],
];

describe("own changes", () => {
  it.each(MAKING)("%s: its hint passes neither during the call nor after it", (method, sign) =>
    marbles((m) => {
      const hints = "   --H---H-k";
      const calls = "   -r";
      const ends = "    ---(a|)";
      const unsub = "   ---------!";
      const expected = "--------k";

      const scene = { hints: hints.replaceAll("H", sign), calls, ends };
      m.expectObservable(passed(m, method as keyof typeof REQUESTS, scene), unsub).toBe(expected, signals);
    })(),
  );

  it(
    "RunPodSandbox makes and starts a sandbox whose id only its answer tells",
    marbles((m) => {
      const hints = "   --c-s-c-s-e";
      const calls = "   -r";
      const ends = "    ----(a|)";
      const unsub = "   -----------!";
      const expected = "----------e";

      m.expectObservable(passed(m, "runPodSandbox", { hints, calls, ends }), unsub).toBe(expected, signals);
    }),
  );

  it(
    "all other hints pass at once: of other parts, other changes and other pods",
    marbles((m) => {
      const hints = "   o-s-x-d-k-f";
      const calls = "   -r";
      const ends = "    ---------------(a|)";
      const unsub = "   -----------!";
      const expected = "o-s-x-d-k-f";

      m.expectObservable(passed(m, "stopContainer", { hints, calls, ends }), unsub).toBe(expected, signals);
    }),
  );

  it(
    "the hint of a call that fails passes when the call ends, and later ones at once",
    marbles((m) => {
      const hints = "   --e----e";
      const calls = "   -r";
      const ends = "    ---#";
      const unsub = "   ---------!";
      const expected = "----e--e";

      m.expectObservable(passed(m, "stopContainer", { hints, calls, ends }), unsub).toBe(expected, signals);
    }),
  );

  it(
    "the hint of a call that is cut off passes then",
    marbles((m) => {
      const hints = "   --e------";
      const calls = "   -r---r";
      const ends = "    ---------";
      const unsub = "   --------!";
      const expected = "-----e";

      m.expectObservable(passed(m, "stopContainer", { hints, calls, ends }), unsub).toBe(expected, signals);
    }),
  );

  it(
    "a part that another makes meanwhile passes when the call has ended",
    marbles((m) => {
      const hints = "   --c-n----";
      const calls = "   -r";
      const ends = "    -----(a|)";
      const unsub = "   ---------!";
      const expected = "------n";

      m.expectObservable(passed(m, "createContainer", { hints, calls, ends }), unsub).toBe(expected, signals);
    }),
  );

  it(
    "of many hints during a call sixteen wait",
    marbles((m) => {
      const hints = "   --m";
      const calls = "   r";
      const ends = "    -----(a|)";
      const unsub = "   -------!";
      const expected = "";

      const many = Array.from({ length: 20 }, (_each, index) => hint(`m${index}`, "created"));
      const { noted, others$ } = createOwnChanges({
        runtime: { createContainer: () => m.cold(ends, { a: ANSWER }) } as unknown as RuntimeService,
        runtimeSignals$: m.cold(hints).pipe(switchMap(() => many)),
      });
      const made$ = m.cold(calls).pipe(switchMap(() => noted.runtime.createContainer(REQUESTS.createContainer)));
      const passedAt: number[] = [];
      const result$ = others$.pipe(tap(() => passedAt.push(m.scheduler.now())));
      m.expectObservable(merge(result$, made$).pipe(ignoreElements()), unsub).toBe(expected);
      m.flush();
      expect(passedAt).toEqual([...Array<number>(4).fill(2), ...Array<number>(16).fill(5)]);
    }),
  );
});
