import { EMPTY, of, VirtualTimeScheduler } from "rxjs";
import { describe, expect, it } from "vitest";
import type { MountEntry } from "../../../../src/core/mount/mountInfo.ts";
import { createKeyedTurns } from "../../../../src/operators/keyedTurns.ts";
import { detachIscsi } from "../../../../src/pipelines/volumes/iscsiDetach.ts";
import { iscsiFile } from "../../../../src/core/disk/iscsiFile.ts";
import type { RemovalPorts } from "../../../../src/pipelines/volumes/removeUnmounted.ts";
import { fakeIscsi, type FakeIscsiOptions } from "../../../support/fakeIscsi.ts";
import { virtualClock } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const IQN = "iqn.2003-01.org.example:a";
const [A, B] = ["10.0.0.1:3260", "10.0.0.2:3260"];
const PLUGIN = "/k/plugins/kubernetes.io/iscsi";
const OWN = `${A}-${IQN}-lun-0`;
const DISK = { volume: "v", portals: [A, B], iqn: IQN, lun: 0, initIface: "default", initiatorName: "" };

interface Given extends Partial<FakeIscsiOptions> {
  /** Interface of the disk. */
  readonly iface?: string;
  readonly initiatorName?: string;
  /** Interfaces of the sessions by portal. */
  readonly sessions?: Readonly<Record<string, string>>;
  /** Directories of other disks, in those of their interfaces. */
  readonly others?: Readonly<Record<string, readonly string[]>>;
  /** Devices that are mounted elsewhere. */
  readonly mounted?: readonly string[];
  /** Devices that other block volumes have, without `/dev`. */
  readonly mapped?: readonly string[];
  /** Whether it is a block volume. */
  readonly isBlock?: boolean;
  /** Directories of disks that are being detached too. */
  readonly leaving?: readonly string[];
}

function detached({ iface = "default", initiatorName = "", others = {}, leaving = [], ...given }: Given) {
  const { mounted = [], mapped = [], isBlock = false, sessions = { [A]: iface, [B]: iface } } = given;
  const fake = fakeIscsi({ iqn: IQN, portals: { [A]: "/dev/sdb", [B]: "/dev/sdc" }, ...given });
  for (const [portal, each] of Object.entries(sessions)) fake.sessions.set(portal, each);
  const above = `${isBlock ? "volumeDevices/" : ""}iface-${iface}`;
  const mountPoint = `${PLUGIN}/${above}/${OWN}`;
  const directories: Record<string, readonly string[]> = { [above]: [OWN] };
  for (const [name, disks] of Object.entries(others)) directories[name] = [...(directories[name] ?? []), ...disks];
  const removed: string[] = [];
  const telemetry = recordingTelemetry();
  const ports = {
    telemetry,
    mounts: {
      list: () =>
        of([
          ...mounted.map((source) => ({ source, root: "/", mountPoint: "/mnt" }) as MountEntry),
          ...mapped.map(
            (root) => ({ source: "devtmpfs", root, mountPoint: `${PLUGIN}/volumeDevices/d/u` }) as MountEntry,
          ),
        ]),
    },
    files: {
      kindOf: () => of("Directory"),
      readTail: () => of(iscsiFile({ ...DISK, iface, initiatorName })),
      list: (path: string) =>
        of(path === PLUGIN ? Object.keys(directories) : (directories[path.slice(PLUGIN.length + 1)] ?? [])),
      remove: (path: string) => (removed.push(path), EMPTY),
    },
  } as unknown as RemovalPorts;
  const context = {
    ...{ port: fake.port, clock: virtualClock(new VirtualTimeScheduler()), api: undefined },
    ...{ turns: createKeyedTurns(), leaving: new Set(leaving) },
  };
  let failure = "";
  detachIscsi(ports, fake.disks, context, mountPoint).subscribe({
    error: (thrown) => (failure = (thrown as { message: string }).message),
  });
  return { calls: fake.calls, failure, left: [...fake.sessions.keys()], leaving: context.leaving.size };
}

const logouts = (iface: string) =>
  [A, B].flatMap((portal) => {
    const node = `-m node -p ${portal} -T ${IQN} -I ${iface}`;
    return [`${node} --logout`, `${node} -o delete`];
  });
const DEVICES = ["remove /dev/sdb", "remove /dev/sdc"];

describe("the end of an iSCSI disk", () => {
  it("removes its devices, and logs out of all portals", () => {
    const { calls, left, leaving } = detached({});
    expect([calls, left, leaving]).toEqual([[...DEVICES, ...logouts("default")], [], 0]);
  });

  it("removes its multipath device first", () => {
    expect(detached({ multipath: "/dev/dm-0" }).calls.slice(0, 3)).toEqual(["multipath /dev/dm-0", ...DEVICES]);
  });

  it.each<[string, Given, readonly string[]]>([
    ["a disk of the target at another portal", { others: { "iface-x": [`h:1-${IQN}-lun-1`] } }, DEVICES],
    [
      "a block volume of the target",
      { others: { "volumeDevices/iface-x": [OWN], volumeDevices: ["iface-x"] } },
      DEVICES,
    ],
    ["a block volume with one of its devices", { mapped: ["/sdc"] }, ["remove /dev/sdb"]],
    ["a disk of the target, of a block volume", { isBlock: true, others: { "iface-default": [OWN] } }, DEVICES],
    ["a mount of one of its devices", { mounted: ["/dev/sdc"] }, ["remove /dev/sdb"]],
    ["a mount of its multipath device", { mounted: ["/dev/dm-0"], multipath: "/dev/dm-0" }, []],
  ])("keeps the sessions for %s", (_what, given, calls) => {
    expect(detached(given)).toMatchObject({ calls, left: [A, B], failure: "" });
  });

  it.each<[string, Given]>([
    ["another target", { others: { "iface-default": [`${A}-${IQN}b-lun-0`] } }],
    [
      "a disk that ends as well",
      { others: { "iface-x": [`h:1-${IQN}-lun-1`] }, leaving: [`${PLUGIN}/iface-x/h:1-${IQN}-lun-1`] },
    ],
  ])("does not keep them for %s", (_what, given) => expect(detached(given).left).toEqual([]));

  it("removes the interface that was made for it, unless others have sessions by it", () => {
    const own = { iface: `${A}:v`, initiatorName: "iqn.2003-01.org.example:me" };
    const last = `-m iface -I ${A}:v -o delete`;
    expect(detached(own).calls).toEqual([...DEVICES, ...logouts(`${A}:v`), last]);
    const answer = (line: string) => (line === last ? { status: 15, said: "in use" } : undefined);
    expect(detached({ ...own, answer }).failure).toBe("");
  });

  it("ends sessions that were left to it by earlier volumes of the target", () => {
    const { calls, left } = detached({ sessions: { [A]: `${A}:old`, [B]: "default" } });
    expect(left).toEqual([]);
    expect(calls.at(-1)).toBe(`-m iface -I ${A}:old -o delete`);
  });

  it("takes a session that is gone as logged out, and no other failure", () => {
    expect(detached({ sessions: {} }).failure).toBe("");
    const answer = (line: string) => (line.endsWith("--logout") ? { status: 9, said: "busy" } : undefined);
    expect(detached({ answer }).failure).toBe(
      `iscsi: failed to detach disk: ${PLUGIN}/iface-default/${OWN}\nError: busy`,
    );
  });
});
