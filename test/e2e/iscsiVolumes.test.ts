/** Volumes on iSCSI disks with real mounts; a tmpfs stands for the file system of the disk. */
import { existsSync, readdirSync } from "node:fs";
import { BehaviorSubject, lastValueFrom, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { liveOnDisks, mountsBelow } from "../support/diskNode.ts";
import { fakeIscsi, type FakeIscsiOptions } from "../support/fakeIscsi.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf } from "../support/pods.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { realFiles } from "../support/realFiles.ts";
import { waitFor } from "../support/waitFor.ts";

const IQN = "iqn.2003-01.org.example:disks";
const A = "10.0.0.1:3260";
const IN_USE = `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`;
const ONE: FakeIscsiOptions = { iqn: IQN, portals: { [A]: "/dev/sdy" } };
const LOGOUT = [`-m node -p ${A} -T ${IQN} -I default --logout`, `-m node -p ${A} -T ${IQN} -I default -o delete`];

describe.skipIf(mustSkip("volumes on iSCSI disks", missingForMounts()))("volumes on iSCSI disks", () => {
  let place: PrivateMounts;
  /** Whether mounting a disk dies half-way. */
  let isStuck = false;
  const running: Subscription[] = [];
  beforeEach(() => {
    place = privateMounts();
    isStuck = false;
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const left = () => mountsBelow(place.place);
  const disksLeft = (): readonly string[] => {
    const at = `${place.place}/plugins/kubernetes.io/iscsi`;
    return existsSync(at) ? readdirSync(at).flatMap((iface) => readdirSync(`${at}/${iface}`)) : [];
  };
  /** Returns the calls that undo something. */
  const undone = (calls: readonly string[]) =>
    calls.filter((call) => call.startsWith("remove") || call.endsWith("--logout") || call.endsWith("-o delete"));

  const live = async (initiator: ReturnType<typeof fakeIscsi>) => {
    const mounts = {
      ...place.mounts,
      formatAndMount: ({ source, target }: { readonly source: string; readonly target: string }) => {
        if (isStuck) return new BehaviorSubject<void>(undefined);
        return place.mounts.mount({ source, target, fsType: "tmpfs", options: [] });
      },
    };
    const { disks, port } = initiator;
    const node = await liveOnDisks({ rootDir: place.place, mounts, disks, initiator: port, running });
    const iscsi = { targetPortal: "10.0.0.1", iqn: IQN, lun: 0, iscsiInterface: "default" };
    const spec = {
      volumes: [{ name: "data", iscsi }],
      containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    };
    return { ...node, start: (uid: string) => node.start(uid, spec) };
  };

  it("are mounted once for the node, bound for each pod, and logged out after the last", async () => {
    const initiator = fakeIscsi(ONE);
    const { start, inUse } = await live(initiator);
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([left(), inUse.value, disksLeft()]).toEqual([3, [IN_USE], [`${A}-${IQN}-lun-0`]]);
    a.end();
    await a.gone();
    expect([left(), undone(initiator.calls)]).toEqual([2, []]);
    b.end();
    await b.gone();
    expect([left(), inUse.value, disksLeft(), undone(initiator.calls), initiator.sessions.size]).toEqual([
      ...[0, [], [], ["remove /dev/sdy", ...LOGOUT], 0],
    ]);
  });

  it("keep the session while another disk of the target is in use, of upstream's kubelet too", async () => {
    const initiator = fakeIscsi(ONE);
    const { start } = await live(initiator);
    const pod = start("a");
    await pod.until("mounted");
    const other = `${place.place}/plugins/kubernetes.io/iscsi/volumeDevices/iface-x/10.0.0.7:1-${IQN}-lun-5`;
    await lastValueFrom(realFiles().makeDirectory(other), { defaultValue: undefined });
    pod.end();
    await pod.gone();
    expect([left(), undone(initiator.calls), initiator.sessions.size]).toEqual([0, ["remove /dev/sdy"], 1]);
  });

  it("say why there is none", async () => {
    const { start, events } = await live(fakeIscsi({ ...ONE, isMissing: true }));
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    expect(events[0]).toBe(
      'MountVolume.WaitForAttach failed for volume "data" : cannot run iscsiadm: iscsiadm is not installed on this node',
    );
    pod.kill();
  });

  it("are found again after kill -9, by their mount", async () => {
    const initiator = fakeIscsi(ONE);
    const first = await live(initiator);
    const before = first.start("a");
    await before.until("mounted");
    before.kill();
    const second = await live(initiator);
    expect(second.inUse.value).toEqual([IN_USE]);
    await second.giveBack("a");
    expect([left(), second.inUse.value, disksLeft(), initiator.sessions.size]).toEqual([0, [], [], 0]);
  });

  it("are found again after kill -9 between login and mount", async () => {
    const initiator = fakeIscsi(ONE);
    isStuck = true;
    const before = (await live(initiator)).start("a");
    await waitFor("the login", () => initiator.calls.some((call) => call.startsWith("scan")));
    before.kill();
    isStuck = false;
    const second = await live(initiator);
    expect([second.inUse.value, initiator.sessions.size]).toEqual([[IN_USE], 1]);
    await second.giveBack("a");
    expect([left(), disksLeft(), undone(initiator.calls), initiator.sessions.size]).toEqual([
      ...[0, [], ["remove /dev/sdy", ...LOGOUT], 0],
    ]);
  });
});
