import { defer, NEVER, type Observable, throwError } from "rxjs";
import { describe, it } from "vitest";
import { containerId, epochMs } from "../../../src/core/ids.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { ContainerEventResponse, ContainerEventType, PodSandboxStatus } from "../../../src/gen/cri.ts";
import type { RuntimeChange, RuntimeSignal } from "../../../src/ports/kubeletPorts.ts";
import type { ContainerdHintKind } from "../../../src/sources/containerdEvents.ts";
import { eventedPleg, type EventedPlegPorts } from "../../../src/sources/eventedPleg.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

const UNIMPLEMENTED = kubeletError("Unimplemented", "unknown method GetContainerEvents");
const AWAY = kubeletError("Unavailable", "connection refused");

const SENT_AT = epochMs(1_700_000_000_123);

const event = (container: string, containerEventType: ContainerEventType, pod?: string): ContainerEventResponse =>
  ContainerEventResponse.create({
    containerId: container,
    containerEventType,
    createdAt: BigInt(SENT_AT) * 1_000_000n,
    ...(pod === undefined
      ? {}
      : {
          podSandboxStatus: PodSandboxStatus.create({ metadata: { name: "n", namespace: "ns", uid: pod, attempt: 0 } }),
        }),
  });
const hint = (
  container: string,
  change: RuntimeChange | undefined,
  podUid?: string,
  aheadOfStatus = false,
): unknown => ({
  kind: "hint",
  podUid,
  containerId: container,
  change,
  aheadOfStatus,
  sentAt: SENT_AT,
});
const containerdHint = (id: string, kind: ContainerdHintKind) => ({
  kind,
  containerId: containerId(id),
  timestamp: SENT_AT,
});

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT } = ContainerEventType;
const events = {
  e: event("c1", CONTAINER_CREATED_EVENT, "p1"),
  f: event("c2", CONTAINER_STARTED_EVENT),
  g: event("c3", CONTAINER_STOPPED_EVENT, ""),
};
const signals = {
  o: { kind: "opening" },
  s: { kind: "streaming", via: "cri" },
  t: { kind: "streaming", via: "containerd" },
  u: { kind: "unsupported" },
  l: { kind: "lost", reason: "connection refused", isAway: true },
  m: { kind: "lost", reason: "the runtime ended the stream", isAway: false },
  h: hint("c1", "created", "p1"),
  i: hint("c2", "started"),
  j: hint("c3", "stopped"),
  k: hint("c2", undefined),
  x: hint("c4", "stopped", undefined, true),
};

/** The source over streams opened one after the other; the last one is opened again and again. */
function plegOver(
  { clock }: Pick<Marbles, "clock">,
  cri: readonly Observable<ContainerEventResponse>[],
  containerd?: readonly NonNullable<EventedPlegPorts["containerdHints$"]>[],
): Observable<RuntimeSignal> {
  const inTurn = <T>(streams: readonly Observable<T>[]): Observable<T> => {
    let opened = 0;
    return defer(() => {
      opened += 1;
      return streams[Math.min(opened, streams.length) - 1] ?? NEVER;
    });
  };
  const cri$ = inTurn(cri);
  const containerdHints$ = containerd === undefined ? undefined : inTurn(containerd);
  return eventedPleg({ runtime: { getContainerEvents: () => cri$ }, containerdHints$, clock });
}

const refused = <T>(error: unknown): Observable<T> => throwError(() => error);

describe("eventedPleg", () => {
  it(
    "counts a stream as open at its first event, and emits each event as a hint about pod and container",
    marbles((m) => {
      const stream = "    ---e------f---------g-----";
      const streamSubs = "^ 25ms !";
      const unsub = "     26ms !";
      const expected = "  o--(sh)---i---------j-----";

      const stream$ = m.cold(stream, events);
      m.expectObservable(plegOver(m, [stream$]), unsub).toBe(expected, signals);
      m.expectSubscriptions(stream$).toBe(streamSubs);
    }),
  );

  it(
    "counts a quiet stream as open when it has not failed for 500 ms",
    marbles((m) => {
      const stream = "  600ms e";
      const unsub = "   700ms !";
      const expected = "o 499ms s 99ms h";

      const stream$ = m.cold(stream, events);
      m.expectObservable(plegOver(m, [stream$]), unsub).toBe(expected, signals);
    }),
  );

  it(
    "reopens a lost stream after 200 ms, and reports the loss once over repeated failures",
    marbles((m) => {
      const broken = "          --e----#";
      const brokenSubs = "      ^------!";
      const closed = "          #";
      const firstClosedSubs = " 207ms (^!)";
      const secondClosedSubs = "407ms (^!)";
      const again = "           -----e";
      const againSubs = "       607ms ^ 92ms !";
      const unsub = "           700ms !";
      const expected = "        o-(sh)-l 604ms (sh)";

      const broken$ = m.cold<ContainerEventResponse>(broken, events, AWAY);
      const closed$ = m.cold<ContainerEventResponse>(closed, {}, AWAY);
      const again$ = m.cold(again, events);
      const result$ = plegOver(m, [broken$, closed$, closed$, again$]);
      m.expectObservable(result$, unsub).toBe(expected, signals);
      m.expectSubscriptions(broken$).toBe(brokenSubs);
      m.expectSubscriptions(closed$).toBe(firstClosedSubs, secondClosedSubs);
      m.expectSubscriptions(again$).toBe(againSubs);
    }),
  );

  it(
    "counts a stream that the runtime ends as lost, too",
    marbles((m) => {
      const ended = "   ---|";
      const again = "   e";
      const unsub = "   300ms !";
      const expected = "o--m 199ms (sh)";

      const ended$ = m.cold(ended, events);
      const again$ = m.cold(again, events);
      m.expectObservable(plegOver(m, [ended$, again$]), unsub).toBe(expected, signals);
    }),
  );

  it(
    "reads containerd's events when CRI has none, and reports that an exit may not show yet",
    marbles((m) => {
      const stream = "  ---a---c--b";
      const unsub = "   20ms !";
      const expected = "o--(ti)k--x";

      const stream$ = m.cold(stream, {
        a: containerdHint("c2", "start"),
        b: containerdHint("c4", "exit"),
        c: containerdHint("c2", "oom"),
      });
      m.expectObservable(plegOver(m, [refused(UNIMPLEMENTED)], [stream$]), unsub).toBe(expected, signals);
    }),
  );

  it(
    "tries CRI first when containerd's events are lost: the runtime may have been upgraded",
    marbles((m) => {
      const broken = "  -----#";
      const cri = "     e";
      const unsub = "   300ms !";
      const expected = "o----l 199ms (sh)";

      const broken$ = m.cold(broken, { a: containerdHint("c2", "start") }, AWAY);
      const cri$ = m.cold(cri, events);
      const result$ = plegOver(m, [refused(UNIMPLEMENTED), cri$], [broken$]);
      m.expectObservable(result$, unsub).toBe(expected, signals);
    }),
  );

  it(
    "has no stream when neither is supported, retries after a minute and reports it once",
    marbles((m) => {
      const asked = "          #";
      const firstAskedSubs = " (^!)";
      const secondAskedSubs = "60200ms (^!)";
      const stream = "         e";
      const streamSubs = "     120400ms ^ 9599ms !";
      const unsub = "          130s !";
      const expected = "       (ou) 120396ms (sh)";

      const asked$ = m.cold<ContainerEventResponse>(asked, {}, UNIMPLEMENTED);
      const stream$ = m.cold(stream, events);
      const result$ = plegOver(m, [asked$, asked$, stream$], [refused(UNIMPLEMENTED)]);
      m.expectObservable(result$, unsub).toBe(expected, signals);
      m.expectSubscriptions(asked$).toBe(firstAskedSubs, secondAskedSubs);
      m.expectSubscriptions(stream$).toBe(streamSubs);
    }),
  );

  it(
    "has no stream when CRI has none and the endpoint is not containerd",
    marbles((m) => {
      const unsub = "   100s !";
      const expected = "(ou)";

      m.expectObservable(plegOver(m, [refused(UNIMPLEMENTED)]), unsub).toBe(expected, signals);
    }),
  );

  it(
    "treats any other refusal as a loss, not as a missing feature",
    marbles((m) => {
      const unsub = "   5s !";
      const expected = "(ol)";

      m.expectObservable(plegOver(m, [refused(AWAY)], [NEVER]), unsub).toBe(expected, signals);
    }),
  );

  it(
    "reports a stream that reopens after a loss as streaming",
    marbles((m) => {
      const flapping = "--e-------#";
      const unsub = "   430ms !";
      const expected = "o-(sh)----l 201ms (sh)----l 201ms (sh)";

      const flapping$ = m.cold<ContainerEventResponse>(flapping, events, AWAY);
      const result$ = plegOver(m, [flapping$]);
      m.expectObservable(result$, unsub).toBe(expected, signals);
    }),
  );
});
