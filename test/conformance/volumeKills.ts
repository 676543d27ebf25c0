/**
 * A kubelet that is killed at any step of mounting or unmounting a volume, of every kind, and what the next one makes of
 * it: one mount, none left over, nothing lost. On any machine.
 */
import { catchError, lastValueFrom, of } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import type { ConfigObject } from "../../src/core/configObjects.ts";
import type { CsiCapability, CsiDriverFacts } from "../../src/core/csi/csiDriverFacts.ts";
import type { VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import type { Failpoint, MachinePorts } from "../support/failpoints.ts";
import { mountingCsiDriver } from "../support/mountingCsiDriver.ts";
import { containerOf, podOf } from "../support/pods.ts";
import {
  type Death,
  type Life,
  liveOnce,
  sweep,
  unstageOnce,
  type VolumeLivesOptions,
} from "../support/volumeLives.ts";

type Volume = NonNullable<Pod["spec"]["volumes"]>[number];

/** A machine with an empty directory. */
export interface VolumeKillsFixture extends MachinePorts {
  readonly place: string;
  /** A block device of the test's own, for the kind that is one. */
  readonly device?: string;
  /** Files and devices that loop devices have. */
  readonly loops?: () => readonly string[];
  close(): void;
}

/** A kind of volume, in a directory private to the test. */
interface Kind {
  readonly source: (host: string) => Omit<Volume, "name">;
  /** A part of it that is mounted too; empty: none. */
  readonly subPath: string;
  /** Where below the pod's directory a container writes to it; what is elsewhere on the node is looked at anyway. */
  readonly data?: string;
  /** It is at the machine's block device. */
  readonly isDevice?: boolean;
  /** Containers get it as a device. */
  readonly isBlock?: boolean;
  /** Capabilities of the CSI driver that mounts it. */
  readonly driver?: readonly CsiCapability[];
}

const metadata = (name: string) => ({ namespace: "demo", name });
const OBJECTS: readonly ConfigObject[] = [
  { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("settings"), data: { one: "1", two: "2" } },
  { apiVersion: "v1", kind: "Secret", metadata: metadata("login"), data: { one: "MQ==", two: "Mg==" } },
] as unknown as readonly ConfigObject[];

const EMPTY_DIR_DATA = "volumes/kubernetes.io~empty-dir/v/data";
const item = { path: "one", fieldRef: { fieldPath: "metadata.name" } };
const claim = (claimName: string, readOnly = false) => ({ persistentVolumeClaim: { claimName, readOnly } });

export const VOLUME_KINDS: Readonly<Record<string, Kind>> = {
  emptyDir: { source: () => ({ emptyDir: {} }), subPath: "part/deep", data: EMPTY_DIR_DATA },
  "emptyDir in memory": { source: () => ({ emptyDir: { medium: "Memory" } }), subPath: "part", data: EMPTY_DIR_DATA },
  "emptyDir of huge pages": { source: () => ({ emptyDir: { medium: "HugePages" } }), subPath: "" },
  hostPath: {
    source: (host) => ({ hostPath: { path: `${host}/made/here`, type: "DirectoryOrCreate" } }),
    subPath: "part",
  },
  "hostPath of a file": {
    source: (host) => ({ hostPath: { path: `${host}/file`, type: "FileOrCreate" } }),
    subPath: "",
  },
  configMap: { source: () => ({ configMap: { name: "settings" } }), subPath: "one" },
  secret: { source: () => ({ secret: { secretName: "login" } }), subPath: "two" },
  downwardAPI: { source: () => ({ downwardAPI: { items: [item] } }), subPath: "one" },
  projected: {
    source: () => ({ projected: { sources: [{ configMap: { name: "settings" } }, { secret: { name: "login" } }] } }),
    subPath: "two",
  },
  local: { source: () => claim("local"), subPath: "part" },
  "local, read-only": { source: () => claim("local", true), subPath: "" },
  "local, a block device": {
    source: () => claim("local"),
    subPath: "part",
    data: "volumes/kubernetes.io~local-volume/pv1/data",
    isDevice: true,
  },
  "local, as a device": { source: () => claim("local"), subPath: "", isDevice: true, isBlock: true },
  "csi, staged": { source: () => claim("csi"), subPath: "part", driver: ["STAGE_UNSTAGE_VOLUME"] },
  "csi, without stages": { source: () => claim("csi", true), subPath: "", driver: [] },
  nfs: { source: () => ({ nfs: { server: "192.0.2.1", path: "/x" } }), subPath: "part" },
};

const CSI_NAME = "csi.example.com";
const CSI_SOURCE = { csi: { driver: CSI_NAME, volumeHandle: "handle" } };

/** The claim of a volume with this source. */
const apiOf = (source: object, volumeMode: string): VolumesDeps["api"] => ({
  get: ((resource: string) =>
    of(
      resource === "persistentvolumes"
        ? { metadata: { name: "pv1" }, spec: { claimRef: { uid: "c" }, ...source, volumeMode } }
        : { metadata: { ...metadata("local"), uid: "c" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
    )) as unknown as NonNullable<VolumesDeps["api"]>["get"],
});

const factsOf = (capabilities: readonly CsiCapability[]): CsiDriverFacts => ({
  ...{ name: CSI_NAME, endpoint: "/csi.sock", version: [1, 0], vendorVersion: "", nodeId: "n" },
  ...{ maxVolumes: undefined, topology: {}, capabilities: new Set(capabilities) },
});

class KillTest {
  readonly #fixture: VolumeKillsFixture;
  readonly #kind: Kind;
  /** The state that each run observed once all volumes were mounted. */
  readonly seen: unknown[] = [];

  private constructor(fixture: VolumeKillsFixture, kind: Kind) {
    this.#fixture = fixture;
    this.#kind = kind;
  }

  get #host(): string {
    return `${this.#fixture.place}/host`;
  }

  readonly #options = (): VolumeLivesOptions => {
    const { source, subPath, isDevice = false, isBlock = false, driver } = this.#kind;
    const disk = `${this.#host}/disk`;
    const local = { local: { path: isDevice ? (this.#fixture.device ?? "") : disk } };
    const mounts = [
      { name: "v", mountPath: "/v" },
      ...(subPath === "" ? [] : [{ name: "v", mountPath: "/p", subPath }]),
    ];
    const uses = isBlock ? { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] } : { volumeMounts: mounts };
    const resources = { requests: { "hugepages-2Mi": "2Mi" }, limits: { "hugepages-2Mi": "2Mi" } };
    const volumes = [{ name: "v", ...source(this.#host) }];
    const pod = podOf({
      spec: {
        volumes,
        securityContext: { fsGroup: 4_711 },
        containers: [containerOf({ resources, ...uses })],
      },
    });
    return {
      machine: this.#fixture,
      rootDir: `${this.#fixture.place}/kubelet`,
      pod,
      objects: OBJECTS,
      api: apiOf(driver === undefined ? local : CSI_SOURCE, isBlock ? "Block" : "Filesystem"),
      driver: driver && { facts: factsOf(driver), calls: mountingCsiDriver(this.#fixture, disk) },
      whenMounted: async () => {
        this.seen.push(await this.#look());
      },
    };
  };

  /** With somebody's data on the node. */
  static async begin(fixture: VolumeKillsFixture, kindName: string): Promise<KillTest> {
    const kind = VOLUME_KINDS[kindName];
    if (kind === undefined) throw new Error(`no such kind: ${kindName}`);
    const { files, place } = fixture;
    await lastValueFrom(files.makeDirectory(`${place}/kubelet`));
    for (const dir of ["disk", "made/here"]) {
      await lastValueFrom(files.makeDirectory(`${place}/host/${dir}/part`, 0o755));
      await lastValueFrom(files.writeFile(`${place}/host/${dir}/precious`, "data"));
    }
    return new KillTest(fixture, kind);
  }

  live(death?: Death): Promise<Life> {
    return liveOnce(this.#options(), death);
  }

  sweep(): Promise<void> {
    return sweep(this.#options());
  }

  /** Stages the volume, and forgets the pod: an earlier kubelet that records no pod before the stage was killed. */
  async stage(effects: readonly string[]): Promise<void> {
    const publish = effects.findIndex((each) => each.startsWith("publish "));
    await this.live({ effect: publish + 1, when: "before" });
    await lastValueFrom(this.#fixture.files.remove(`${this.#fixture.place}/kubelet/pods/uid-1`));
  }

  /** A life without the pod. */
  unstage(death?: Failpoint): Promise<Life> {
    return unstageOnce(this.#options(), death);
  }

  /** A container of the pod writes; undefined for a volume without data of its own. */
  async write(): Promise<boolean> {
    const { files, place } = this.#fixture;
    const { data } = this.#kind;
    if (data === undefined) return false;
    await lastValueFrom(files.writeFile(`${place}/kubelet/pods/uid-1/${data}`, "written by a container"));
    return true;
  }

  /** Captures the mounted state: every mount with its distinguishing fields, every file with its content. */
  async #look(): Promise<unknown> {
    const { place } = this.#fixture;
    return { mounts: await this.mounts(), files: await this.#contents(`${place}/kubelet`) };
  }

  /** All mounts, and the paths with loop devices. */
  async mounts(): Promise<readonly string[]> {
    const { place, mounts, loops } = this.#fixture;
    const all = await lastValueFrom(mounts.list());
    const held = (loops?.() ?? []).filter((path) => path.startsWith(`${place}/`)).map((path) => `loop ${path}`);
    const found = all
      .filter(({ mountPoint }) => mountPoint.startsWith(`${place}/`))
      .map(({ mountPoint, fsType, options }) => `${fsType} ${mountPoint} ${options.includes("ro") ? "ro" : "rw"}`);
    return [...found, ...held].sort();
  }

  async #contents(path: string): Promise<readonly string[]> {
    const { files } = this.#fixture;
    const kind = await lastValueFrom(files.kindOf(path));
    const name = path.replace(/\/\.\.\d{4}_[^/]*/g, "/..generation").slice(this.#fixture.place.length);
    if (kind === "BlockDevice") return [`${name}: ${kind}`];
    if (kind !== "Directory") return [`${name}: ${await lastValueFrom(files.readTail(path, 100, "followed"))}`];
    const names = await lastValueFrom(files.list(path));
    const below = await Promise.all(names.map((each) => this.#contents(`${path}/${each}`)));
    return [name, ...below.flat()].sort();
  }

  /** Expects that the pod left nothing and all else is intact; removes the directories of hostPath for the next round. */
  async expectClean(about: unknown): Promise<void> {
    const { files, place } = this.#fixture;
    await lastValueFrom(files.remove(`${this.#host}/file`), { defaultValue: undefined });
    const pods = await lastValueFrom(files.list(`${place}/kubelet/pods`));
    const data = await Promise.all(
      ["disk", "made/here"].map((dir) => lastValueFrom(files.readTail(`${this.#host}/${dir}/precious`, 100))),
    );
    const stages = files.list(`${place}/kubelet/plugins/kubernetes.io/csi/${CSI_NAME}`).pipe(catchError(() => of([])));
    expect([about, await this.mounts(), pods, await lastValueFrom(stages), data]).toEqual([
      about,
      ...[[], [], []],
      ["data", "data"],
    ]);
  }
}

/** Sequels of a death: the next kubelet finds the pod, or finds it gone. */
const AFTERMATHS = ["lives on", "is swept"] as const;

/**
 * Runs the suite; `kinds` by name, of VOLUME_KINDS. Each death has both aftermaths, or one of them in turn: real mounts take
 * a hundred times as long as simulated ones.
 */
export function volumeKills(
  name: string,
  kinds: readonly string[],
  open: () => VolumeKillsFixture,
  aftermaths: "both" | "in turn" = "both",
): void {
  describe(`a kubelet killed at any step: ${name}`, () => {
    let fixture: VolumeKillsFixture;
    beforeEach(() => {
      fixture = open();
    });
    afterEach(() => fixture.close());

    it.each(kinds)("mounts a volume once and takes it away whole: %s", async (kindName) => {
      const test = await KillTest.begin(fixture, kindName);
      const whole = await test.live();
      await test.expectClean("never killed");
      const [usual] = test.seen;
      for (const [index, [effect, when, about]] of deathsIn(whole).entries()) {
        // Two deaths belong to each effect.
        const turn = (index + Math.floor(index / 2)) % 2;
        for (const next of aftermaths === "both" ? AFTERMATHS : AFTERMATHS.slice(turn, turn + 1)) {
          const first = await test.live({ effect, when });
          expect([about, first.end, first.effects]).toEqual([about, "killed", whole.effects.slice(0, effect)]);
          if (next === "is swept") await test.sweep();
          else expect([about, (await test.live()).end, test.seen.pop()]).toEqual([about, "done", usual]);
          await test.expectClean(about);
        }
      }
    });

    it.each(kinds.filter((kind) => VOLUME_KINDS[kind]?.driver?.includes("STAGE_UNSTAGE_VOLUME")))(
      "unstages a volume that no pod has, wherever one dies: %s",
      async (kindName) => {
        const test = await KillTest.begin(fixture, kindName);
        const { effects } = await test.live();
        await test.stage(effects);
        expect(await test.mounts()).toHaveLength(1);
        const whole = await test.unstage();
        await test.expectClean("never killed");
        for (const [effect, when, about] of deathsIn(whole)) {
          for (const next of AFTERMATHS) {
            await test.stage(effects);
            expect([about, (await test.unstage({ effect, when })).end]).toEqual([about, "killed"]);
            if (next === "is swept") await test.unstage();
            else expect([about, (await test.live()).end]).toEqual([about, "done"]);
            await test.expectClean(about);
          }
        }
      },
    );

    it.each(kinds)("leaves what is mounted as it is, wherever one dies that finds it: %s", async (kindName) => {
      const test = await KillTest.begin(fixture, kindName);
      await test.live("mounted");
      const hasData = await test.write();
      const found = await test.live("mounted");
      const usual = test.seen.pop();
      expect(JSON.stringify(usual).includes("written by a container")).toBe(hasData);
      for (const [effect, when, about] of deathsIn(found)) {
        await test.live({ effect, when });
        expect([about, (await test.live("mounted")).end, test.seen.pop()]).toEqual([about, "killed", usual]);
      }
      await test.live();
      await test.expectClean("at the end");
    });
  });
}

/** Each way to die in such a life. */
const deathsIn = ({ effects }: Life): readonly (readonly [effect: number, when: Failpoint["when"], about: string])[] =>
  effects.flatMap((what, index) =>
    (["before", "halfway"] as const).map((when) => [index + 1, when, `killed ${when} ${what}`] as const),
  );
