/** The chains of a kubelet in iptables: made, restored after a flush, tried again, never waited for without end. */
import { NEVER, type Observable, throwError } from "rxjs";
import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { MarkBits } from "../../../../src/core/network/utilChains.ts";
import { utilChains } from "../../../../src/pipelines/node/utilChains.ts";
import {
  createSimIpTables,
  type SimIpTablesCall,
  type SimIpTablesOptions,
} from "../../../../src/sim/host/simIpTables.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const MARTIANS =
  "-m comment --comment block incoming localnet connections --dst 127.0.0.0/8 ! --src 127.0.0.0/8 " +
  "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP";
const CANARY = "KUBE-KUBELET-CANARY";
const IPV6 = ["mangle KUBE-IPTABLES-HINT", `mangle ${CANARY}`, `nat ${CANARY}`, `filter ${CANARY}`];
const IPV4 = [
  ...["mangle KUBE-IPTABLES-HINT", `mangle ${CANARY}`, `nat ${CANARY}`],
  "filter INPUT: -j KUBE-FIREWALL",
  "filter OUTPUT: -j KUBE-FIREWALL",
  "filter KUBE-FIREWALL",
  `filter KUBE-FIREWALL: ${MARTIANS}`,
  `filter ${CANARY}`,
];

interface Run extends Omit<SimIpTablesOptions, "clock"> {
  readonly until: string;
  /** When the part completes; default: never. */
  readonly ends?: string;
  readonly bits?: MarkBits | undefined;
}

/** Runs the part until the diagram ends; it never emits. */
function running({ clock, expectObservable }: Marbles, { until, ends = "", bits = {}, ...options }: Run) {
  const telemetry = recordingTelemetry();
  const ipTables = createSimIpTables({ clock, ...options });
  const ports = { clock, rng: fixedRng(), telemetry, ipTables: ipTables.port };
  expectObservable(utilChains(ports, { utilChains: bits }), until).toBe(ends);
  return {
    ...ipTables,
    telemetry,
    said: () => telemetry.lines.map(({ message, fields }) => `${String(fields["protocol"] ?? "")} ${message}`.trim()),
  };
}

/** A failure of the calls that `selects` names, while `isOn`. */
const failing = (selects: (call: SimIpTablesCall) => boolean, isOn: () => boolean = () => true) => ({
  fate: (call: SimIpTablesCall): Observable<never> | undefined =>
    selects(call) && isOn() ? throwError(() => kubeletError("Unavailable", "exit status 4: locked")) : undefined,
});

it(
  "makes the chains of both families at once",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 30ms !" });
    helpers.flush();
    expect([node.list("IPv4"), node.list("IPv6")]).toEqual([IPV4, IPV6]);
    expect(node.said()).toEqual(["IPv6 Initialized iptables rules.", "IPv4 Initialized iptables rules."]);
  }),
);

it(
  "makes the chains of marks for the bits that are asked for",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 40ms !", bits: { masquerade: 14, drop: 15 } });
    helpers.flush();
    expect(node.list("IPv6").filter((line) => line.includes("MARK"))).toEqual([
      "nat KUBE-MARK-DROP",
      "nat KUBE-MARK-DROP: -j MARK --or-mark 0x008000",
      "nat KUBE-MARK-MASQ",
      "nat KUBE-MARK-MASQ: -j MARK --or-mark 0x004000",
      "nat KUBE-POSTROUTING: -j MARK --xor-mark 0x004000",
    ]);
  }),
);

it(
  "does nothing when the configuration says so",
  marbles(({ clock, expectObservable, flush }) => {
    const expected = "|";

    const ipTables = createSimIpTables({ clock });
    const ports = { clock, rng: fixedRng(), telemetry: recordingTelemetry(), ipTables: ipTables.port };
    expectObservable(utilChains(ports, { utilChains: undefined })).toBe(expected);
    flush();
    expect(ipTables.calls).toEqual([]);
  }),
);

it(
  "looks at one canary of each family in a minute",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 181s !" });
    let before = 0;
    helpers.at(1_000, () => (before = node.calls.length));
    helpers.flush();
    const looks = node.calls.slice(before).map(({ operation, table, chain }) => `${operation} ${table} ${chain}`);
    expect(looks).toEqual(Array(6).fill(`hasChain mangle ${CANARY}`));
  }),
);

it(
  "restores everything at the look after a flush",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 61s !" });
    helpers.at(10_000, () => node.flush("IPv4"));
    helpers.at(59_000, () => expect(node.list("IPv4")).toEqual([]));
    helpers.flush();
    expect(node.list("IPv4")).toEqual(IPV4);
    expect(node.said().slice(2)).toEqual(["IPv4 IPTables canary deleted", "IPv4 Reloading after iptables flush"]);
  }),
);

it(
  "waits until all tables are flushed, five seconds at most",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 70s !" });
    const rules: string[][] = [];
    helpers.at(59_000, () => node.flush("IPv4", "mangle"));
    helpers.at(63_000, () => rules.push([...node.list("IPv4").filter((line) => line.startsWith("mangle"))]));
    helpers.at(64_900, () => rules.push([...node.list("IPv4").filter((line) => line.startsWith("mangle"))]));
    helpers.flush();
    expect(rules).toEqual([[], []]);
    expect(node.list("IPv4").toSorted()).toEqual(IPV4.toSorted());
    expect(node.said().slice(2)).toEqual([
      "IPv4 IPTables canary deleted",
      "IPv4 Inconsistent iptables state detected",
      "IPv4 Reloading after iptables flush",
    ]);
  }),
);

it(
  "restores within seconds where the system reports deletions",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 20s !", reportsDeletions: true });
    helpers.at(10_000, () => node.flush("IPv4"));
    helpers.at(10_900, () => expect(node.list("IPv4")).toEqual([]));
    helpers.at(11_100, () => expect(node.list("IPv4")).toEqual(IPV4));
    helpers.flush();
    expect(node.list("IPv4")).toEqual(IPV4);
  }),
);

it(
  "reacts to endless deletions once in ten seconds",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 31s !", reportsDeletions: true });
    for (let ms = 1_000; ms < 30_000; ms += 500) helpers.at(ms, () => node.flush("IPv6"));
    helpers.flush();
    const reloads = node.said().filter((line) => line === "IPv6 Reloading after iptables flush");
    expect(reloads).toHaveLength(3);
  }),
);

it(
  "restores rules that vanish while the canary stays at the tenth look",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 601s !" });
    helpers.at(10_000, () => node.flushChain("IPv4", "filter", "INPUT"));
    helpers.at(599_000, () => expect(node.list("IPv4")).not.toContain("filter INPUT: -j KUBE-FIREWALL"));
    helpers.flush();
    expect(node.list("IPv4")).toEqual(IPV4);
    expect(node.said().slice(2)).toEqual(["IPv4 Restored iptables rules that were gone"]);
  }),
);

it(
  "tries a failed set-up again with a growing delay, and reports a repeated failure once",
  marbles((helpers) => {
    let isLocked = true;
    const selects = ({ family, operation }: SimIpTablesCall): boolean =>
      family === "IPv4" && operation === "ensureRule";
    const node = running(helpers, { until: "^ 20s !", ...failing(selects, () => isLocked) });
    helpers.at(10_000, () => (isLocked = false));
    helpers.flush();
    const tries = node.calls.filter(selects).length;
    // At 0, 1, 3 and 7 s the first rule fails; at 15 s all three are there.
    expect(tries).toBe(4 + 3);
    expect(node.list("IPv4")).toEqual(IPV4);
    expect(node.said()).toEqual([
      "IPv4 Failed to ensure that OUTPUT chain jumps to KUBE-FIREWALL",
      "IPv4 Failed to initialize iptables rules; some functionality may be missing.",
      "IPv6 Initialized iptables rules.",
      "IPv4 Initialized iptables rules.",
    ]);
  }),
);

it(
  "tries at most once a minute in the end",
  marbles((helpers) => {
    const selects = ({ chain }: SimIpTablesCall): boolean => chain === "KUBE-IPTABLES-HINT";
    const node = running(helpers, { until: "^ 600s !", families: ["IPv6"], ...failing(selects) });
    helpers.flush();
    // Until 63 s six delays double from 1 s; one try follows each minute.
    expect(node.calls.filter(selects)).toHaveLength(7 + 8);
  }),
);

it(
  "keeps its chains when it cannot look at the canary",
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 181s !", ...failing(({ operation }) => operation === "hasChain") });
    helpers.flush();
    expect(node.list("IPv4")).toEqual(IPV4);
    expect(node.said().slice(2)).toEqual([
      "IPv6 Could not check for iptables canary",
      "IPv4 Could not check for iptables canary",
    ]);
  }),
);

it(
  "keeps one family while the program of the other hangs",
  marbles((helpers) => {
    const fate = ({ family, operation }: SimIpTablesCall): Observable<never> | undefined =>
      family === "IPv6" && operation !== "isUsable" ? NEVER : undefined;
    const node = running(helpers, { until: "^ 61s !", fate });
    helpers.at(10_000, () => node.flush("IPv4"));
    helpers.flush();
    expect(node.list("IPv4")).toEqual(IPV4);
    expect(node.calls.filter(({ family }) => family === "IPv6")).toHaveLength(2);
  }),
);

it.each([
  [["IPv4"], "IPv6", "No iptables support for one protocol; not creating its KUBE-IPTABLES-HINT chain"],
  [[], "", "No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain"],
] as const)("says once what is missing when the families are %o", (families, protocol, message) => {
  marbles((helpers) => {
    const node = running(helpers, { until: "^ 600s !", families, ends: families.length === 0 ? "-|" : "" });
    helpers.flush();
    const [first, ...others] = node.said();
    expect(first).toBe(`${protocol} ${message}`.trim());
    expect(others).toEqual(families.map((family) => `${family} Initialized iptables rules.`));
    expect(new Set(node.calls.filter(({ operation }) => operation !== "isUsable").map(({ family }) => family))).toEqual(
      new Set(families),
    );
  })();
});

it(
  "counts a program that is not installed as missing",
  marbles((helpers) => {
    const notFound = kubeletError("NotFound", "cannot look for iptables: iptables is not installed on this node");
    const node = running(helpers, { until: "^ 600s !", ends: "|", fate: () => throwError(() => notFound) });
    helpers.flush();
    expect(node.telemetry.lines).toEqual([
      {
        level: "info",
        message: "No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain",
        fields: { reason: notFound.message },
      },
    ]);
  }),
);
