import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, VirtualTimeScheduler } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createIscsi } from "../../../src/sinks/iscsi.ts";
import { virtualClock } from "../../support/marbles.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const IQN = "iqn.2003-01.org.example:a";

describe("the iSCSI initiator of a node", () => {
  const placeOf = temporaryDirectory();
  const path = process.env["PATH"];
  let root = "";
  const write = (file: string, text: string): void => {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const session = (host: number, iqn: string, address: string): void => {
    const at = `sys/class/iscsi_host/host${host}/device/session${host}`;
    const connection = `${at}/connection${host}:0/iscsi_connection/connection${host}:0`;
    write(`${at}/iscsi_session/session${host}/targetname`, `${iqn}\n`);
    write(`${at}/iscsi_session/session${host}/ifacename`, "default\n");
    write(`${connection}/address`, `${address}\n`);
    write(`${connection}/port`, "3260\n");
    write(`${connection}/persistent_address`, "10.0.0.9\n");
    write(`${connection}/persistent_port`, "3261\n");
    for (const lun of [0, 1]) {
      mkdirSync(join(root, `${at}/target${host}:0:0/${host}:0:0:${lun}/block/sd${host}${lun}`), { recursive: true });
    }
  };
  const iscsiadm = (script: string): void => {
    write("bin/iscsiadm", `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, "bin/iscsiadm"), 0o755);
    process.env["PATH"] = `${join(root, "bin")}:${path}`;
  };
  beforeEach(() => {
    root = placeOf();
  });
  afterEach(() => {
    process.env["PATH"] = path;
  });
  const iscsi = () => createIscsi({ clock: realClock, root });

  it("has no sessions without the kernel's part", async () => {
    expect(await lastValueFrom(iscsi().sessions(IQN))).toEqual([]);
    expect(await lastValueFrom(iscsi().devices(IQN, 0))).toEqual([]);
  });

  it("finds the sessions of a target, and their devices", async () => {
    session(2, IQN, "10.0.0.1");
    session(3, IQN, "2001:db8::1");
    session(4, `${IQN}b`, "10.0.0.3");
    mkdirSync(join(root, "sys/class/iscsi_host/host5/device/session5"), { recursive: true });
    expect(await lastValueFrom(iscsi().sessions(IQN))).toEqual([
      { host: 2, portals: ["10.0.0.1:3260", "10.0.0.9:3261"], iface: "default" },
      { host: 3, portals: ["[2001:db8::1]:3260", "10.0.0.9:3261"], iface: "default" },
    ]);
    expect(await lastValueFrom(iscsi().devices(IQN, 1))).toEqual(["/dev/sd21", "/dev/sd31"]);
    expect(await lastValueFrom(iscsi().devices(IQN, 10))).toEqual([]);
    expect(await lastValueFrom(iscsi().devices(IQN))).toHaveLength(4);
  });

  it("lets one host look for one LUN", async () => {
    write("sys/class/scsi_host/host2/scan", "");
    await lastValueFrom(iscsi().scan(2, 7), { defaultValue: undefined });
    expect(readFileSync(join(root, "sys/class/scsi_host/host2/scan"), "utf8")).toBe("0 0 7");
  });

  it("runs iscsiadm; its answers have no secrets", async () => {
    iscsiadm('echo "bad: $*"; exit 7');
    expect(await lastValueFrom(iscsi().admin({ args: ["-v", "pw"], isSecret: true }))).toEqual({
      status: 7,
      said: "bad: -v ***\n",
    });
  });

  it("ends iscsiadm after 3 min", async () => {
    iscsiadm(`echo $$ > ${root}/pid.new && mv ${root}/pid.new ${root}/pid && exec sleep 600`);
    const scheduler = new VirtualTimeScheduler();
    let failure: unknown;
    const { admin } = createIscsi({ clock: virtualClock(scheduler), root });
    admin({ args: ["-m", "node"] }).subscribe({ error: (thrown) => (failure = thrown) });
    await waitFor("iscsiadm", () => existsSync(join(root, "pid")));
    scheduler.flush();
    expect([scheduler.now(), failure]).toMatchObject([180_000, { code: "DeadlineExceeded" }]);
    const pid = readFileSync(join(root, "pid"), "utf8").trim();
    await waitFor("its end", () => !existsSync(`/proc/${pid}`));
  });

  it("names iscsiadm when it is missing", async () => {
    process.env["PATH"] = join(root, "bin");
    await expect(lastValueFrom(iscsi().admin({ args: [] }))).rejects.toMatchObject({
      code: "NotFound",
      message: "cannot run iscsiadm: iscsiadm is not installed on this node",
    });
  });
});
