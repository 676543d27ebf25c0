import { BehaviorSubject, of, type Subscription, VirtualTimeScheduler } from "rxjs";
import { expect, it } from "vitest";
import type { PodCertificateRequest, PodCertificateWish } from "../../../../src/core/cert/podCertificate.ts";
import type { EpochMs } from "../../../../src/core/ids.ts";
import { createPodCertificates } from "../../../../src/pipelines/projections/podCertificates.ts";
import type { ApiServer } from "../../../../src/ports/apiServer.ts";
import type { Followed } from "../../../../src/ports/projections.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { TEST_EPOCH_MS, virtualClock } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const MINUTE_MS = 60_000;
const instant = (afterMs: number): string => new Date(TEST_EPOCH_MS + afterMs).toISOString();

const wishAt = (index: number): PodCertificateWish => ({
  pod: podOf({}).metadata,
  serviceAccount: "runner",
  volume: "v",
  index,
  projection: { signerName: "example.com/s", keyType: "ED25519" },
});

/**
 * Certificates whose requests are named `r0`, `r1`, … in order; `states` are the counts of the gauge, `looks` the number
 * of times that a state was computed from the time.
 */
function certificates() {
  const scheduler = new VirtualTimeScheduler();
  const requests$ = new BehaviorSubject<Followed<PodCertificateRequest>>(new Map());
  const { log, metrics, samples } = recordingTelemetry();
  let made = 0;
  let looks = 0;
  const api = {
    get: () => of({ metadata: { uid: "account" } }),
    create: () => of({ metadata: { namespace: "demo", name: `r${made++}` } }),
  } as unknown as Pick<ApiServer, "get" | "create">;
  const clock = virtualClock(scheduler);
  const wallTime = (): EpochMs => {
    looks += 1;
    return clock.wallTime();
  };
  const { follow } = createPodCertificates({
    api,
    requests$,
    keys: { newKey: () => of({ pem: "KEY", request: "CSR" }) },
    node: createCell({ metadata: { name: "node", uid: "node" } } as never),
    clock: { ...clock, wallTime },
    rng: fixedRng(),
    log,
    metrics,
  });
  const states = (): Readonly<Record<string, number>> =>
    Object.fromEntries(
      [...samples].map(([series, value]) => [/state="(.*)"/.exec(series)?.[1] ?? series, value] as const),
    );
  return { scheduler, requests$, follow, states, looks: () => looks };
}

const decided = (type: string, name: string): PodCertificateRequest =>
  ({
    metadata: { namespace: "demo", name },
    status: {
      conditions: [{ type, reason: "R", message: "m" }],
      certificateChain: "",
      beginRefreshAt: instant(10 * MINUTE_MS),
      notAfter: instant(60 * MINUTE_MS),
    },
  }) as unknown as PodCertificateRequest;

it("counts certificates by state, and drops the series of states without one", () => {
  const { scheduler, requests$, follow, states } = certificates();
  const followed: readonly Subscription[] = [0, 1, 2].map((index) => follow(wishAt(index)).subscribe());
  expect(states()).toEqual({ not_yet_issued: 3 });
  requests$.next(
    new Map([
      ["demo/r0", decided("Issued", "r0")],
      ["demo/r1", decided("Denied", "r1")],
    ]),
  );
  expect(states()).toEqual({ not_yet_issued: 1, fresh: 1, denied: 1 });
  followed[2]?.unsubscribe();
  scheduler.maxFrames = 20 * MINUTE_MS + 1;
  scheduler.flush();
  expect(states()).toEqual({ overdue_for_refresh: 1, denied: 1 });
  scheduler.maxFrames = 60 * MINUTE_MS + 1;
  scheduler.flush();
  expect(states()).toEqual({ expired: 1, denied: 1 });
  for (const each of followed) each.unsubscribe();
  expect(states()).toEqual({});
});

it("a change of one certificate does not count the others again", () => {
  const { follow, states, looks } = certificates();
  const MANY = 1_000;
  const followed = Array.from({ length: MANY }, (_, index) => follow(wishAt(index)).subscribe());
  expect([states(), looks()]).toEqual([{ not_yet_issued: MANY }, MANY]);
  for (const each of followed) each.unsubscribe();
  expect([states(), looks()]).toEqual([{}, MANY]);
});
