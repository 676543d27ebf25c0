import { defer, NEVER, type Observable, throwError } from "rxjs";
import { describe, it } from "vitest";
import { containerId, epochMs } from "../../../src/core/ids.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { ContainerEventResponse, PodSandboxStatus } from "../../../src/gen/cri.ts";
import type { RuntimeSignal } from "../../../src/ports/kubeletPorts.ts";
import { eventedPleg, type EventedPlegPorts } from "../../../src/sources/eventedPleg.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

const UNIMPLEMENTED = kubeletError("Unimplemented", "unknown method GetContainerEvents");
const AWAY = kubeletError("Unavailable", "connection refused");

const SENT_AT = epochMs(1_700_000_000_123);

const event = (container: string, pod?: string): ContainerEventResponse =>
  ContainerEventResponse.create({
    containerId: container,
    createdAt: BigInt(SENT_AT) * 1_000_000n,
    ...(pod === undefined
      ? {}
      : {
          podSandboxStatus: PodSandboxStatus.create({ metadata: { name: "n", namespace: "ns", uid: pod, attempt: 0 } }),
        }),
  });
const hint = (container: string, podUid?: string, aheadOfStatus = false): unknown => ({
  kind: "hint",
  podUid,
  containerId: container,
  aheadOfStatus,
  sentAt: SENT_AT,
});

const events = { e: event("c1", "p1"), f: event("c2"), g: event("c3", "") };
const signals = {
  o: { kind: "opening" },
  s: { kind: "streaming", via: "cri" },
  t: { kind: "streaming", via: "containerd" },
  u: { kind: "unsupported" },
  l: { kind: "lost", reason: "connection refused", isAway: true },
  m: { kind: "lost", reason: "the runtime ended the stream", isAway: false },
  h: hint("c1", "p1"),
  i: hint("c2"),
  j: hint("c3"),
  x: hint("c4", undefined, true),
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
      const stream = m.cold(" ---e------f---------g-----", events);
      const expected = "       o--(sh)---i---------j-----";
      m.expectObservable(plegOver(m, [stream]), "26ms !").toBe(expected, signals);
      m.expectSubscriptions(stream).toBe("^ 25ms !");
    }),
  );

  it(
    "counts a quiet stream as open when it has not failed for 500 ms",
    marbles((m) => {
      const stream = m.cold("             600ms e", events);
      m.expectObservable(plegOver(m, [stream]), "700ms !").toBe("o 499ms s 99ms h", signals);
    }),
  );

  it(
    "reopens a lost stream after 200 ms, and reports the loss once over repeated failures",
    marbles((m) => {
      const broken = m.cold<ContainerEventResponse>("--e----#", events, AWAY);
      const closed = m.cold<ContainerEventResponse>("#", {}, AWAY);
      const again = m.cold("-----e", events);
      const result$ = plegOver(m, [broken, closed, closed, again]);
      m.expectObservable(result$, "700ms !").toBe("o-(sh)-l 604ms (sh)", signals);
      m.expectSubscriptions(broken).toBe("^------!");
      m.expectSubscriptions(closed).toBe("207ms (^!)", "407ms (^!)");
      m.expectSubscriptions(again).toBe("607ms ^ 92ms !");
    }),
  );

  it(
    "counts a stream that the runtime ends as lost, too",
    marbles((m) => {
      const ended = m.cold("---|", events);
      const again = m.cold("e", events);
      const expected = "    o--m 199ms (sh)";
      m.expectObservable(plegOver(m, [ended, again]), "300ms !").toBe(expected, signals);
    }),
  );

  it(
    "reads containerd's events when CRI has none, and reports that an exit may not show yet",
    marbles((m) => {
      const stream = m.cold(" ---a------b", {
        a: { kind: "start", containerId: containerId("c2"), timestamp: SENT_AT },
        b: { kind: "exit", containerId: containerId("c4"), timestamp: SENT_AT },
      });
      const expected = "       o--(ti)---x";
      m.expectObservable(plegOver(m, [refused(UNIMPLEMENTED)], [stream]), "20ms !").toBe(expected, signals);
    }),
  );

  it(
    "tries CRI first when containerd's events are lost: the runtime may have been upgraded",
    marbles((m) => {
      const broken = m.cold(
        "-----#",
        { a: { kind: "start", containerId: containerId("c2"), timestamp: SENT_AT } },
        AWAY,
      );
      const cri = m.cold("e", events);
      const expected = "  o----l 199ms (sh)";
      const result$ = plegOver(m, [refused(UNIMPLEMENTED), cri], [broken]);
      m.expectObservable(result$, "300ms !").toBe(expected, signals);
    }),
  );

  it(
    "has no stream when neither is supported, retries after a minute and reports it once",
    marbles((m) => {
      const asked = m.cold<ContainerEventResponse>("#", {}, UNIMPLEMENTED);
      const stream = m.cold("e", events);
      const result$ = plegOver(m, [asked, asked, stream], [refused(UNIMPLEMENTED)]);
      m.expectObservable(result$, "130s !").toBe("(ou) 120396ms (sh)", signals);
      m.expectSubscriptions(asked).toBe("(^!)", "60200ms (^!)");
      m.expectSubscriptions(stream).toBe("120400ms ^ 9599ms !");
    }),
  );

  it(
    "has no stream when CRI has none and the endpoint is not containerd",
    marbles((m) => {
      m.expectObservable(plegOver(m, [refused(UNIMPLEMENTED)]), "100s !").toBe("(ou)", signals);
    }),
  );

  it(
    "treats any other refusal as a loss, not as a missing feature",
    marbles((m) => {
      m.expectObservable(plegOver(m, [refused(AWAY)], [NEVER]), "5s !").toBe("(ol)", signals);
    }),
  );

  it(
    "reports a stream that reopens after a loss as streaming",
    marbles((m) => {
      const flapping = m.cold<ContainerEventResponse>("--e-------#", events, AWAY);
      const expected = "                               o-(sh)----l 201ms (sh)----l 201ms (sh)";
      const result$ = plegOver(m, [flapping]);
      m.expectObservable(result$, "430ms !").toBe(expected, signals);
    }),
  );
});
