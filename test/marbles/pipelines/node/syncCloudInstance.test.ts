/** The instance in the cloud: when its service is asked, and which answer the node keeps. */
import { defer } from "rxjs";
import { expect, it } from "vitest";
import type { CloudInstance } from "../../../../src/core/cloud/cloudInstance.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { MachineAddresses } from "../../../../src/core/node/nodeFacts.ts";
import { cloudInstance } from "../../../../src/pipelines/node/syncCloudInstance.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { EC2_INSTANCE } from "../../../support/cloudInstances.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const MOVED: CloudInstance = { ...EC2_INSTANCE, addresses: [{ type: "InternalIP", address: "192.0.2.77" }] };
const UP = 'rxlet_source_up{source="cloudMetadata"}';

/** The part on a service that gives each answer once and the last one forever, with the times of its requests. */
function world({ clock, cold }: Marbles, answers: readonly string[]) {
  const asked: number[] = [];
  const cell = createCell<CloudInstance | undefined>(undefined);
  const addresses = createCell<MachineAddresses | undefined>(undefined);
  const telemetry = recordingTelemetry();
  const instance = () =>
    defer(() => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? "";
      asked.push(clock.monotonicMs());
      return cold<CloudInstance>(answer, { a: EC2_INSTANCE, b: MOVED }, kubeletError("Unavailable", "no"));
    });
  const ports = { clock, rng: fixedRng(0), telemetry, cloudMetadata: { instance } };
  const part$ = cloudInstance(ports, { addresses, cloudInstance: cell });
  return { asked, cell, addresses, telemetry, part$ };
}

it(
  "asks at once and each minute, and sets the cell once per change",
  marbles((helpers) => {
    const answers = ["2ms (a|)", "2ms (a|)", "2ms (b|)"];
    const subscription = "^ 180s !";
    const expected = "";

    const { asked, cell, telemetry, part$ } = world(helpers, answers);
    const seen: unknown[] = [];
    helpers.at(10, () => seen.push(cell.value));
    helpers.at(61_000, () => seen.push(cell.value));
    helpers.expectObservable(part$, subscription).toBe(expected);
    helpers.flush();
    expect([asked, seen, cell.value]).toEqual([[0, 60_002, 120_004], [EC2_INSTANCE, EC2_INSTANCE], MOVED]);
    expect([telemetry.lines.length, telemetry.samples.get(UP)]).toEqual([2, 1]);
  }),
);

it(
  "keeps the last good answer over an outage, asks with doubling pauses up to a minute, and logs it once",
  marbles((helpers) => {
    const answers = ["(a|)", ...Array<string>(9).fill("#"), "(b|)"];
    const subscription = "^ 300s !";
    const expected = "";

    const { asked, cell, telemetry, part$ } = world(helpers, answers);
    const during: unknown[] = [];
    helpers.at(270_000, () => during.push(cell.value, telemetry.samples.get(UP)));
    helpers.expectObservable(part$, subscription).toBe(expected);
    helpers.flush();
    const pauses = asked.slice(1).map((ms, index) => (ms - (asked[index] ?? 0)) / 1_000);
    expect(pauses).toEqual([60, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect([during, cell.value]).toEqual([[EC2_INSTANCE, 0], EC2_INSTANCE]);
    expect(telemetry.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "The metadata service of the cloud does not describe this node; the last answer stays in use",
    ]);
  }),
);

it(
  "gives up an answer after ten seconds, and asks again",
  marbles((helpers) => {
    const answers = ["-", "(a|)"];
    const subscription = "^ 12s !";
    const expected = "";

    const { asked, cell, telemetry, part$ } = world(helpers, answers);
    helpers.expectObservable(part$, subscription).toBe(expected);
    helpers.flush();
    expect([asked, cell.value]).toEqual([[0, 11_000], EC2_INSTANCE]);
    expect(telemetry.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "warn The metadata service of the cloud does not describe this node; the Node keeps its addresses",
      "info The metadata service of the cloud answers again",
      "info The cloud described the instance of the node",
    ]);
  }),
);

it(
  "asks again when the addresses of the machine change, one request at a time",
  marbles((helpers) => {
    const answers = ["100ms (a|)"];
    const subscription = "^ 30s !";
    const expected = "";

    const { asked, addresses, part$ } = world(helpers, answers);
    const change = () => addresses.set({ ips: [], interfaceIps: [], nameIps: [] });
    helpers.at(50, change);
    helpers.at(60, change);
    helpers.at(20_000, change);
    helpers.expectObservable(part$, subscription).toBe(expected);
    helpers.flush();
    expect(asked).toEqual([0, 100, 20_000]);
  }),
);

it(
  "names the facts that the Node cannot have, once",
  marbles((helpers) => {
    const answer = "      (c|)";
    const subscription = "^ 130s !";
    const expected = "";

    const { clock, cold } = helpers;
    const found = { ...EC2_INSTANCE, problems: ["/latest/meta-data/ipv6: must be an IP address"] };
    const telemetry = recordingTelemetry();
    const cells = {
      addresses: createCell<MachineAddresses | undefined>(undefined),
      cloudInstance: createCell<CloudInstance | undefined>(undefined),
    };
    const cloudMetadata = { instance: () => cold(answer, { c: found }) };
    const part$ = cloudInstance({ clock, rng: fixedRng(0), telemetry, cloudMetadata }, cells);
    helpers.expectObservable(part$, subscription).toBe(expected);
    helpers.flush();
    expect(telemetry.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
      { problems: found.problems },
    ]);
  }),
);
