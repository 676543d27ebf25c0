import { of, VirtualTimeScheduler } from "rxjs";
import { describe, expect, it } from "vitest";
import type { IscsiTarget } from "../../../../src/core/disk/iscsiDisk.ts";
import { createKeyedTurns } from "../../../../src/operators/keyedTurns.ts";
import { attachIscsi, iscsiSecrets } from "../../../../src/pipelines/volumes/iscsiDisks.ts";
import type { IscsiContext } from "../../../../src/pipelines/volumes/iscsiLogin.ts";
import { fakeIscsi, type FakeIscsiOptions } from "../../../support/fakeIscsi.ts";
import { virtualClock } from "../../../support/marbles.ts";

const IQN = "iqn.2003-01.org.example:a";
const [A, B] = ["10.0.0.1:3260", "10.0.0.2:3260"];
const TARGET: IscsiTarget = {
  ...{ volume: "v", portals: [A], iqn: IQN, lun: 0 },
  ...{ iface: "default", initIface: "default", initiatorName: "", chap: undefined },
};
const ONE = { iqn: IQN, portals: { [A]: "/dev/sdb" } };
const TWO = { iqn: IQN, portals: { [A]: "/dev/sdb", [B]: "/dev/sdc" } };

/** Attaches a disk; `then` runs before time passes. */
function attached(options: FakeIscsiOptions, change: Partial<IscsiTarget> = {}, then = (_fake: Fake): void => {}) {
  const fake = fakeIscsi(options);
  const scheduler = new VirtualTimeScheduler();
  const context: IscsiContext = {
    ...{ port: fake.port, clock: virtualClock(scheduler), api: undefined },
    ...{ turns: createKeyedTurns(), leaving: new Set<string>() },
  };
  let ended = "";
  let endedAt = -1;
  const secrets = new Map([["node.session.auth.password", "pw"]]);
  attachIscsi(fake.disks, context, { ...TARGET, ...change }, secrets).subscribe({
    next: (device) => ((ended = device), (endedAt = scheduler.now())),
    error: (thrown) => ((ended = (thrown as { message: string }).message), (endedAt = scheduler.now())),
  });
  then(fake);
  scheduler.flush();
  return { ended, endedAt, calls: fake.calls, fake, turns: context.turns.size };
}
type Fake = ReturnType<typeof fakeIscsi>;

const has = (calls: readonly string[], end: string): boolean => calls.some((call) => call.endsWith(end));

describe("an iSCSI disk", () => {
  it("is found by upstream's calls, in upstream's order", () => {
    const chap = { discovery: false, session: true, secret: {} };
    const { ended, calls, turns } = attached(ONE, { chap });
    const [discovery, node] = [
      `-m discoverydb -t sendtargets -p ${A} -I default`,
      `-m node -p ${A} -T ${IQN} -I default`,
    ];
    expect([ended, turns]).toEqual(["/dev/sdb", 0]);
    expect(calls).toEqual([
      "-m iface -I default -o show",
      `${discovery} -o new`,
      `${discovery} --discover`,
      `${node} -o update -n node.session.scan -v manual`,
      `${node} -o update -n node.session.auth.authmethod -v CHAP`,
      `${node} -o update -n node.session.auth.password -v pw`,
      `${node} --login`,
      `-m node -p ${A} -T ${IQN} -o update -n node.startup -v manual`,
      "scan 0 0",
    ]);
  });

  it("uses the session that is there", () => {
    const fake = fakeIscsi(ONE);
    fake.sessions.set(A, "default");
    const scheduler = new VirtualTimeScheduler();
    const more = { api: undefined, turns: createKeyedTurns(), leaving: new Set<string>() };
    let device = "";
    attachIscsi(fake.disks, { port: fake.port, clock: virtualClock(scheduler), ...more }, TARGET, new Map()).subscribe(
      (found) => (device = found),
    );
    expect([device, fake.calls]).toEqual(["/dev/sdb", ["-m iface -I default -o show", "scan 0 0"]]);
  });

  it("is waited for by watch: the link is seen when it appears", () => {
    const { ended, endedAt } = attached({ ...ONE, hasLinks: false }, {}, (fake) => fake.udev());
    expect([ended, endedAt]).toEqual(["/dev/sdb", 0]);
  });

  it("whose link does not appear within 30 s is an error", () => {
    const { ended, endedAt } = attached({ ...ONE, hasLinks: false });
    expect([ended, endedAt]).toEqual([
      `failed to get any path for iscsi disk, last err seen:\nTimed out waiting for device at path /dev/disk/by-path/ip-${A}-iscsi-${IQN}-lun-0 after 30s`,
      30_000,
    ]);
  });

  it("is its multipath device, at once", () => {
    const { ended, endedAt } = attached({ ...TWO, multipath: "/dev/dm-0" }, { portals: [A, B] });
    expect([ended, endedAt]).toEqual(["/dev/dm-0", 0]);
  });

  it("is its first path when no multipath device appears within 10 s", () => {
    const { ended, endedAt } = attached(TWO, { portals: [A, B] });
    expect([ended, endedAt]).toEqual(["/dev/sdb", 10_000]);
    expect(attached(TWO).endedAt).toBe(0);
  });

  it("gets along with one portal of two, after five rounds", () => {
    const { ended, calls } = attached(ONE, { portals: [B, A] });
    const rounds = calls.filter((call) => call.includes(B) && call.endsWith("--discover")).length;
    expect([ended, rounds, has(calls, `-p ${B} -I default -o delete`)]).toEqual(["/dev/sdb", 5, true]);
  });

  it("without any portal is an error, and the interface of the node stays", () => {
    const { ended, calls } = attached({ iqn: IQN, portals: {} });
    expect(ended).toBe(
      `failed to get any path for iscsi disk, last err seen:\niscsi: failed to sendtargets to portal ${A} output: cannot connect, err exit status 4`,
    );
    expect(has(calls, "-m iface -I default -o delete")).toBe(false);
  });

  it("loses the node record when the login fails", () => {
    const answer = (line: string) => (line.endsWith("--login") ? { status: 24, said: "denied" } : undefined);
    const { ended, calls } = attached({ ...ONE, answer });
    expect(ended).toContain("iscsi: failed to attach disk: Error: denied (exit status 24)");
    expect(calls.at(-1)).toBe(`-m node -p ${A} -T ${IQN} -I default -o delete`);
  });

  it("needs iscsiadm", () => {
    expect(attached({ ...ONE, isMissing: true }).ended).toBe(
      "cannot run iscsiadm: iscsiadm is not installed on this node",
    );
  });

  it("has an interface of its own for its initiator, which goes when nothing is found", () => {
    const own = { iface: `${A}:v`, initiatorName: "iqn.2003-01.org.example:me" };
    const { ended, calls, fake } = attached(ONE, own);
    expect([ended, fake.sessions.get(A)]).toEqual(["/dev/sdb", own.iface]);
    expect(calls.slice(1, 4)).toEqual([
      `-m iface -I ${own.iface} -o new`,
      `-m iface -I ${own.iface} -o update -n iface.initiatorname -v ${own.initiatorName}`,
      `-m iface -I ${own.iface} -o update -n iface.transport_name -v tcp`,
    ]);
    expect(has(attached({ iqn: IQN, portals: {} }, own).calls, `-m iface -I ${own.iface} -o delete`)).toBe(true);
  });

  it("has the credentials of its Secret", () => {
    const chap = { discovery: true, session: true, secret: { name: "s", namespace: "n" } };
    const data = { "node.session.auth.password": Buffer.from("pw").toString("base64") };
    const asked: unknown[] = [];
    const api = { get: (...request: readonly unknown[]) => (asked.push(request), of({ data })) } as never;
    const results: unknown[] = [];
    iscsiSecrets({ api }, { ...TARGET, chap }).subscribe((found) => results.push([...found]));
    iscsiSecrets({ api: undefined }, { ...TARGET, chap }).subscribe({ error: ({ message }) => results.push(message) });
    expect(asked).toEqual([["secrets", { name: "s", namespace: "n" }]]);
    expect(results).toEqual([[["node.session.auth.password", "pw"]], "Cannot get kube client"]);
  });
});
