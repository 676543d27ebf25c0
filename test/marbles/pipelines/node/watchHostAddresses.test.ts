/** Addresses of the machine: a change reaches the cell; link-local addresses, which pods bring along, are no change. */
import { defer, of, throwError } from "rxjs";
import { expect, it } from "vitest";
import type { MachineAddresses } from "../../../../src/core/node/nodeFacts.ts";
import { hostAddresses } from "../../../../src/pipelines/node/watchHostAddresses.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const withIps = (ip: string, ...more: readonly string[]): MachineAddresses => ({
  ips: [ip],
  interfaceIps: ["127.0.0.1", ip, ...more],
  nameIps: [],
});

it(
  "reports a new address of the node, and ignores link-local ones",
  marbles(({ clock, expectObservable, flush }) => {
    const subscription = "^ 44ms !";
    const expected = "";

    const machine = withIps("192.0.2.10", "fe80::1");
    const found = [
      withIps("192.0.2.10", "fe80::1", "fe80::2", "169.254.0.1"),
      withIps("192.0.2.10"),
      withIps("192.0.2.99", "fe80::3"),
      withIps("192.0.2.99", "fe80::4"),
    ];
    const telemetry = recordingTelemetry();
    const addresses = createCell<MachineAddresses | undefined>(undefined);
    const polls = found.values();
    const ports = { clock, telemetry, machine, hostUsage: { addresses: () => defer(() => of(polls.next().value)) } };
    const settings = { node: { statusUpdatePeriodMs: 10 } };
    expectObservable(hostAddresses(ports as never, settings as never, addresses), subscription).toBe(expected);
    flush();
    expect([addresses.value, telemetry.lines.map(({ fields }) => [fields["before"], fields["now"]])]).toEqual([
      withIps("192.0.2.99"),
      [[["192.0.2.10"], ["192.0.2.99"]]],
    ]);
  }),
);

/** Counts the reads of the part at these addresses. */
const readsOf = (clock: object, networkChanges: object) => {
  const reads: number[] = [];
  const { monotonicMs } = clock as { readonly monotonicMs: () => number };
  const addresses = () =>
    defer(() => {
      reads.push(monotonicMs());
      return of(withIps("192.0.2.10"));
    });
  const telemetry = recordingTelemetry();
  const ports = { clock, rng: fixedRng(), telemetry, networkChanges, machine: withIps("192.0.2.10") };
  const cell = createCell<MachineAddresses | undefined>(undefined);
  const settings = { node: { statusUpdatePeriodMs: 10_000 } };
  return {
    reads,
    telemetry,
    part$: hostAddresses({ ...ports, hostUsage: { addresses } } as never, settings as never, cell),
  };
};

it(
  "reads a second after reported changes, and each minute without one",
  marbles(({ hot, clock, expectObservable, flush }) => {
    const changes = "     1s w 19s a 9ms a 2s a";
    const subscription = "^ 90s !";
    const expected = "";

    const { reads, part$ } = readsOf(clock, { addresses$: hot(changes) });
    expectObservable(part$, subscription).toBe(expected);
    flush();
    // The first report says that the watch works; the period of a node without reports is over once.
    expect(reads).toEqual([2_000, 10_000, 21_001, 23_012, 83_012]);
  }),
);

it(
  "reads in the period of the node's status while changes are not reported, and says so once",
  marbles(({ clock, expectObservable, flush }) => {
    const subscription = "^ 41s !";
    const expected = "";

    const addresses$ = throwError(() => kubeletError("NotFound", "cannot run setpriv: ENOENT"));
    const { reads, telemetry, part$ } = readsOf(clock, { addresses$ });
    expectObservable(part$, subscription).toBe(expected);
    flush();
    expect(reads).toEqual([10_000, 20_000, 30_000, 40_000]);
    expect(telemetry.lines.map(({ level, message }) => [level, message])).toEqual([
      ["debug", "Cannot watch the addresses of the machine"],
    ]);
  }),
);
