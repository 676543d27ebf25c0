/** Volumes of a flexVolume driver, a shell script, with real mounts. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podUid } from "../../src/core/ids.ts";
import { mountedLayouts } from "../../src/core/volume/podVolumes.ts";
import { FLEX_SUCCESS, FLEX_UNKNOWN, flexCalls, flexPlugins, installFlex, liveWithFlex } from "../support/flexNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

/** A driver that mounts a tmpfs for each pod. */
const MOUNTING = `init) echo '{"status":"Success","capabilities":{"attach":false}}';;
mount) mount -t tmpfs flex "$2" && ${FLEX_SUCCESS};;
unmount) umount "$2" && ${FLEX_SUCCESS};;
*) ${FLEX_UNKNOWN};;`;
/** A driver that mounts a tmpfs for the node. */
const ATTACHING = `init) ${FLEX_SUCCESS};;
attach) echo '{"status":"Success","device":"/dev/flex"}';;
mountdevice) mount -t tmpfs flex "$2" && ${FLEX_SUCCESS};;
*) ${FLEX_UNKNOWN};;`;

describe.skipIf(mustSkip("flexVolumes", missingForMounts()))("flexVolumes", () => {
  let place: PrivateMounts;
  const running: Subscription[] = [];
  beforeEach(() => {
    place = privateMounts();
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const plugins = () => flexPlugins(place);
  const install = (cases: string) => installFlex(place, cases);
  const calls = () => flexCalls(place);
  const left = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${place.place}/`)).length;

  const live = (isAttachedByController = false) => liveWithFlex({ mounts: place, running, isAttachedByController });

  it("are mounted by their driver, and unmounted", async () => {
    install(MOUNTING);
    const { start } = await live();
    const pod = start("a");
    await pod.until("mounted");
    expect(left()).toBe(1);
    pod.end();
    await pod.gone();
    const path = "pods/a/volumes/acme~disk/data";
    expect(calls()).toEqual(["init", `mount ${path} OPTIONS`, `unmount ${path}`]);
    expect([left(), readdirSync(join(place.place, "pods/a/volumes/acme~disk"))]).toEqual([0, []]);
  });

  it.each([
    ["the runtime labels their files", "", true],
    ["the runtime leaves their files alone if their driver says so", ',"selinuxRelabel":false', false],
  ])("%s", async (_, answer, expected) => {
    install(MOUNTING.replace('"attach":false', `"attach":false${answer}`));
    const { start } = await live();
    const pod = start("a");
    await pod.until("mounted");
    expect(mountedLayouts(pod.state()).get("data")?.selinuxRelabel).toBe(expected);
    pod.end();
    await pod.gone();
  });

  it("wait for their driver, with an event, and follow its installation", async () => {
    const { start, events } = await live();
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    expect(events[0]).toBe(
      'MountVolume.SetUp failed for volume "data" : failed to get Plugin from volumeSpec for volume "data" err=no volume plugin matched (the flexVolume driver acme/disk is not installed)',
    );
    install(MOUNTING);
    await pod.until("mounted");
    pod.end();
    await pod.gone();
    expect(left()).toBe(0);
  });

  it("go without a driver that never had them", async () => {
    const { start, events } = await live();
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    pod.end();
    await pod.gone();
  });

  it("are attached and mounted once for the node, and bound for each pod", async () => {
    install(ATTACHING);
    const { start, inUse, drivers } = await live();
    await waitFor("the driver", () => drivers.value.size > 0);
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([left(), inUse.value]).toEqual([3, ["acme/disk/data"]]);
    a.end();
    await a.gone();
    expect(left()).toBe(2);
    b.end();
    await b.gone();
    const mounts = "plugins/kubernetes.io/flexvolume/acme/disk/mounts/data";
    expect(calls()).toEqual([
      "init",
      "attach OPTIONS n1",
      "waitforattach /dev/flex OPTIONS",
      `mountdevice ${mounts} /dev/flex OPTIONS`,
      "mount pods/a/volumes/acme~disk/data OPTIONS",
      "mount pods/b/volumes/acme~disk/data OPTIONS",
      "unmount pods/a/volumes/acme~disk/data",
      "unmount pods/b/volumes/acme~disk/data",
      `unmountdevice ${mounts}`,
      "detach data n1",
    ]);
    expect([left(), inUse.value]).toEqual([0, []]);
  });

  it("wait until the controller has attached them, and are found again after kill -9", async () => {
    install(ATTACHING);
    const first = await live(true);
    await waitFor("the driver", () => first.drivers.value.size > 0);
    const before = first.start("a");
    await waitFor("the wait", () => before.waits() !== undefined);
    expect([calls(), first.inUse.value]).toEqual([["init"], ["acme/disk/data"]]);
    const volumesInUse = ["acme/disk/data"];
    const volumesAttached = [{ name: "acme/disk/data", devicePath: "/dev/sdx" }];
    first.node.set({ metadata: { name: "n1" }, status: { volumesInUse, volumesAttached } });
    await before.until("mounted");
    expect(calls()).toContain("waitforattach /dev/sdx OPTIONS");
    before.kill();
    const second = await live(true);
    expect(second.inUse.value).toEqual(["acme/disk/data"]);
    await waitFor("the driver", () => second.drivers.value.size > 0);
    await lastValueFrom(second.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    await second.unstaged();
    expect([left(), second.inUse.value, calls().filter((call) => call.startsWith("detach"))]).toEqual([0, [], []]);
  });

  it("let their pod go although the driver does not detach them, and are detached by the next kubelet", async () => {
    install(
      `detach) [ -e "$(dirname "$0")/well" ] && ${FLEX_SUCCESS} || echo '{"status":"Failure","message":"busy"}';;\n${ATTACHING}`,
    );
    const first = await live();
    await waitFor("the driver", () => first.drivers.value.size > 0);
    const pod = first.start("a");
    await pod.until("mounted");
    pod.end();
    await pod.until("unmounted");
    const [stays] = await lastValueFrom(first.volumes.unstage());
    expect([stays?.volume, stays?.reason, first.inUse.value]).toEqual([
      "acme/disk/data",
      expect.stringContaining("busy"),
      ["acme/disk/data"],
    ]);
    writeFileSync(join(plugins(), "acme~disk", "well"), "");
    const second = await live();
    await waitFor("the driver", () => second.drivers.value.size > 0);
    expect(second.inUse.value).toEqual(["acme/disk/data"]);
    expect(await lastValueFrom(second.volumes.unstage())).toEqual([]);
    expect([second.inUse.value, left()]).toEqual([[], 0]);
  });

  it("stay where a driver lies about its unmount", async () => {
    install(MOUNTING.replace('unmount) umount "$2" &&', "unmount)"));
    const { start, volumes } = await live();
    const pod = start("a");
    await pod.until("mounted");
    writeFileSync(join(place.place, "pods/a/volumes/acme~disk/data/file"), "kept");
    pod.kill();
    await expect(lastValueFrom(volumes.unpublish(podUid("a")), { defaultValue: undefined })).rejects.toMatchObject({
      message: `the flexVolume driver acme/disk has left a mount at ${place.place}/pods/a/volumes/acme~disk/data`,
    });
    expect(readFileSync(join(place.place, "pods/a/volumes/acme~disk/data/file"), "utf8")).toBe("kept");
  });

  it("survive a driver that is removed", async () => {
    install(MOUNTING);
    const { start, drivers } = await live();
    const pod = start("a");
    await pod.until("mounted");
    rmSync(join(plugins(), "acme~disk"), { recursive: true });
    await waitFor("the removal", () => drivers.value.size === 0);
    install(MOUNTING);
    await waitFor("the driver", () => drivers.value.size > 0);
    pod.end();
    await pod.gone();
    expect(left()).toBe(0);
  });
});
