/** The event about resolver settings that cannot be read or exceed a limit. */
import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { checkResolvConf } from "../../../../src/pipelines/cluster/checkResolvConf.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { marbles, type MarbleSource } from "../../../support/marbles.ts";

const eventsOf = (file: MarbleSource<string>, resolvConfPath = "/etc/resolv.conf") =>
  checkResolvConf({ files: { readTail: () => file } } as unknown as KubeletPorts, {
    nodeName: "n1",
    resolvConfPath,
    clusterDomain: "cluster.local",
  });
const event = (message: string) =>
  expect.objectContaining({ reason: "CheckLimitsForResolvConf", type: "Warning", message });
const searching = (count: number) => `search ${Array.from({ length: count }, (_, index) => `d${index}`).join(" ")}\n`;

it(
  "reports too many search domains",
  marbles(({ cold, expectObservable }) => {
    const file = "    --(t|)";
    const expected = "--(e|)";

    expectObservable(eventsOf(cold(file, { t: searching(30) }))).toBe(expected, {
      e: event("Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than 29 domains!"),
    });
  }),
);

it(
  "says nothing about settings that fit",
  marbles(({ cold, expectObservable }) => {
    const file = "    --(t|)";
    const expected = "--|";

    expectObservable(eventsOf(cold(file, { t: searching(29) }))).toBe(expected);
  }),
);

it(
  "reports a file that cannot be read",
  marbles(({ cold, expectObservable }) => {
    const file = "    -#";
    const expected = "-(e|)";

    expectObservable(eventsOf(cold<string>(file, {}, kubeletError("NotFound", "no such file")))).toBe(expected, {
      e: event("cannot read the resolver settings of the node (resolvConf): no such file"),
    });
  }),
);

it(
  "reads nothing when pods do not inherit the settings",
  marbles(({ cold, expectObservable }) => {
    const file = "    -";
    const expected = "|";

    expectObservable(eventsOf(cold<string>(file), "")).toBe(expected);
  }),
);
