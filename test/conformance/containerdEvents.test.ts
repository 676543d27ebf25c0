import { existsSync } from "node:fs";
import { ReplaySubject, filter, firstValueFrom, map, take, toArray } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import type { CriClient } from "../../src/sinks/cri.ts";
import { containerdEvents } from "../../src/sources/containerdEvents.ts";
import type { ContainerdHint } from "../../src/sources/containerdEvents.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";
import { cgroupFolders, mountsBelow, shimsOf } from "../support/kernelState.ts";
import { startPrivateContainerd } from "../support/privateContainerd.ts";
import type { PrivateContainerd } from "../support/privateContainerd.ts";
import { waitFor } from "../support/waitFor.ts";
import { RuntimeUnderTest } from "./runtimeFixture.ts";

describeOnContainerd("containerd's event service", (installation) => eventService(installation));

function eventService(installation: ContainerdInstallation): void {
  let containerd: PrivateContainerd;
  let client: CriClient;
  let under: RuntimeUnderTest;
  let hints: ReplaySubject<ContainerdHint>;
  let subscription: Subscription;

  beforeEach(async () => {
    containerd = await startPrivateContainerd(installation);
    client = containerd.client();
    under = new RuntimeUnderTest({
      port: client,
      image: BUSYBOX_IMAGE,
      shell: ["/bin/sh", "-c"],
      logRoot: containerd.folder,
      cgroupParent: containerd.cgroupParent,
      features: { containerEvents: true, runtimeConfig: true, exec: true, logs: true, mounts: true },
      close: () => containerd.stop(),
    });
    hints = new ReplaySubject<ContainerdHint>(1000);
    subscription = containerdEvents(client.containerdEvents).subscribe(hints);
  });
  afterEach(async () => {
    subscription.unsubscribe();
    await containerd.stop();
  });

  const kindsOf = (id: string): Observable<string> =>
    hints.pipe(
      filter((hint) => hint.containerId === id),
      map((hint) => hint.kind),
    );

  it("hints at every step of a container, and not at commands executed in it", async () => {
    const sandbox = await under.sandbox();
    const id = await under.runHandling(sandbox, under.programs.runsUntilTerm(0));
    await firstValueFrom(under.execSync(id, ["true"], 10));
    await under.stopContainer(id, 10);
    await under.removeContainer(id);
    expect(await firstValueFrom(kindsOf(id).pipe(take(5), toArray()))).toEqual([
      "create",
      "start",
      "exit",
      "exit",
      "delete",
    ]);
    expect(await firstValueFrom(kindsOf(sandbox.id).pipe(take(2), toArray()))).toEqual(["create", "start"]);
  });

  it("hints at the end of a container before or soon after CRI shows it", async () => {
    const sandbox = await under.sandbox();
    const id = await under.run(sandbox, under.programs.exits(3));
    await firstValueFrom(
      kindsOf(id).pipe(
        filter((kind) => kind === "exit"),
        take(2),
        toArray(),
      ),
    );
    const shown = await waitFor(
      "CRI to show the end",
      async () => {
        const status = await under.status(id);
        return status.state === cri.ContainerState.CONTAINER_EXITED && status;
      },
      1_000,
    );
    expect([shown.exitCode, shown.reason]).toEqual([3, "Error"]);
  });

  it("breaks with Unavailable when the daemon is killed, and works again after its restart; pods go on", async () => {
    const sandbox = await under.sandbox();
    const id = await under.runHandling(sandbox, under.programs.runsUntilTerm(0));
    const { startedAt } = await under.status(id);
    const broken = firstValueFrom(hints.pipe(filter(() => false))).catch((error: unknown) => error);
    await containerd.killDaemon("SIGKILL");
    expect(await broken).toMatchObject({ code: "Unavailable" });
    await containerd.startDaemon();
    expect(await waitFor("the old client to reconnect", () => under.status(id))).toMatchObject({
      state: cri.ContainerState.CONTAINER_RUNNING,
      startedAt,
    });
    const again = new ReplaySubject<ContainerdHint>(1000);
    const second = containerdEvents(client.containerdEvents).subscribe(again);
    const stopped = firstValueFrom(again.pipe(filter((hint) => hint.containerId === id && hint.kind === "exit")));
    await under.stopContainer(id, 10);
    expect(await stopped).toMatchObject({ kind: "exit", containerId: id });
    second.unsubscribe();
  });

  it("leaves nothing behind when it stops, whatever still runs", async () => {
    const sandbox = await under.sandbox({
      portMappings: containerd.hostPorts ? [{ protocol: 0, containerPort: 80, hostPort: 18_080 }] : [],
    });
    await under.runHandling(sandbox, under.programs.ignoresTerm());
    const before = {
      shims: shimsOf(containerd.socket).length,
      mounts: mountsBelow(containerd.folder).length > 0,
      cgroups: cgroupFolders(containerd.cgroupParent).length > 0,
    };
    expect(before).toEqual({ shims: 1, mounts: true, cgroups: true });
    await containerd.killDaemon("SIGKILL");
    await containerd.stop();
    expect({
      shims: shimsOf(containerd.socket),
      mounts: mountsBelow(containerd.folder),
      cgroups: cgroupFolders(containerd.cgroupParent),
      folder: existsSync(containerd.folder),
    }).toEqual({ shims: [], mounts: [], cgroups: [], folder: false });
  });
}
