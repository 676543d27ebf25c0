/** Addresses of the machine: a change reaches the cell; link-local addresses, which pods bring along, are no change. */
import { defer, of } from "rxjs";
import { expect, it } from "vitest";
import type { MachineAddresses } from "../../../../src/core/node/nodeFacts.ts";
import { hostAddresses } from "../../../../src/pipelines/node/watchHostAddresses.ts";
import { createCell } from "../../../../src/state/cell.ts";
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
