/**
 * A CSI driver over real Unix sockets, with its registration. It keeps each volume as a tmpfs or the file system of a
 * device: staging mounts it, publishing binds it. A block volume is the device itself. Its faults are set by the test.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type CsiCapability } from "../../src/core/csi/csiDriverFacts.ts";
import { IdentityDefinition, NodeDefinition, NodeServiceCapability_RPC_Type as Rpc } from "../../src/gen/csi.ts";
import { RegistrationDefinition } from "../../src/gen/pluginRegistration.ts";
import { GrpcStatus } from "../../src/core/grpcStatus.ts";
import {
  brokenRules,
  type CsiRequest,
  type CsiRuleState,
  followCall,
  missingFields,
  newRuleState,
} from "./csiRules.ts";
import { startGrpcServer } from "./grpcServer.ts";

const run = promisify(execFile);

type Answer = object | { readonly code: number; readonly details: string } | "hang" | undefined;

/** A request as the driver saw it. */
export interface CsiDriverCall {
  readonly rpc: string;
  readonly request: Readonly<Record<string, unknown>>;
}

export interface CsiDriverOptions {
  readonly name?: string;
  readonly versions?: readonly string[];
  readonly capabilities?: readonly CsiCapability[];
  /** Device of a volume; default: a tmpfs. */
  readonly device?: (volume: string) => string | undefined;
  /** Answers instead of the driver: an answer, a failure, or nothing at all; undefined: the driver answers. */
  readonly fault?: (call: CsiDriverCall) => Answer;
  /** Called when the driver has done its work: it never answers. */
  readonly faultAfter?: (call: CsiDriverCall) => "hang" | undefined;
  /** Expands a volume; default: nothing. */
  readonly expand?: (volume: string, bytes: bigint) => Promise<void>;
  readonly node?: object;
}

export interface TestCsiDriver {
  readonly calls: readonly CsiDriverCall[];
  /** Outcomes that the kubelet reported. */
  readonly told: readonly { readonly pluginRegistered: boolean; readonly error: string }[];
  /** Stops serving; mounts stay. */
  stop(): void;
  /** Rules of the specification that the kubelet broke. */
  readonly brokenRules: readonly string[];
  /** Unmounts what the driver has mounted. Throws if the kubelet broke a rule of the specification. */
  release(): Promise<void>;
}

interface VolumeRequest {
  readonly volumeId: string;
  readonly stagingTargetPath: string;
  readonly targetPath: string;
  readonly volumePath: string;
  readonly readonly: boolean;
  readonly capacityRange?: { readonly requiredBytes: bigint };
  readonly volumeCapability?: { readonly block?: object };
}

/** Volumes of drivers by their sockets: a driver that starts again at the same one has the same volumes. */
const STATES = new Map<string, CsiRuleState>();

/** Starts a driver that serves everything on one socket. */
export async function startCsiDriver(socket: string, options: CsiDriverOptions = {}): Promise<TestCsiDriver> {
  const { name = "csi.example.com", versions = ["1.0.0"], capabilities = ["STAGE_UNSTAGE_VOLUME"] } = options;
  const calls: CsiDriverCall[] = [];
  const told: { readonly pluginRegistered: boolean; readonly error: string }[] = [];
  const mounted = new Set<string>();
  const rules: string[] = [];
  const known: ReadonlySet<CsiCapability> = new Set(capabilities);
  const state = STATES.get(socket) ?? newRuleState();
  STATES.set(socket, state);
  const mount = async (...args: readonly string[]) => {
    const target = args.at(-1) ?? "";
    await mkdir(target, { recursive: true });
    await run("mount", args);
    mounted.add(target);
  };
  const unmount = async (target: string) => {
    if (await isMounted(target)) await run("umount", [target]);
    mounted.delete(target);
  };
  const source = (volume: string, target: string): readonly string[] => {
    const device = options.device?.(volume);
    return device === undefined ? ["-t", "tmpfs", `csi-${volume}`, target] : [device, target];
  };
  const work: Readonly<Record<string, (request: VolumeRequest) => Promise<object>>> = {
    getPluginInfo: () => Promise.resolve({ name, vendorVersion: "v0" }),
    getPluginCapabilities: () => Promise.resolve({ capabilities: [] }),
    nodeGetInfo: () => Promise.resolve({ nodeId: `${name}-node`, maxVolumesPerNode: 0n, ...options.node }),
    nodeGetCapabilities: () =>
      Promise.resolve({ capabilities: capabilities.map((capability) => ({ rpc: { type: Rpc[capability] } })) }),
    nodeStageVolume: async ({ volumeId, stagingTargetPath, volumeCapability }) => {
      if (volumeCapability?.block !== undefined) return {};
      if (!(await isMounted(stagingTargetPath))) await mount(...source(volumeId, stagingTargetPath));
      return {};
    },
    nodeUnstageVolume: async ({ stagingTargetPath }) => {
      await unmount(stagingTargetPath);
      return {};
    },
    nodePublishVolume: async ({ volumeId, stagingTargetPath, targetPath, readonly, volumeCapability }) => {
      if (await isMounted(targetPath)) return {};
      if (volumeCapability?.block !== undefined) {
        await writeFile(targetPath, "");
        await run("mount", ["--bind", options.device?.(volumeId) ?? "/dev/null", targetPath]);
        mounted.add(targetPath);
        return {};
      }
      if (stagingTargetPath === "") await mount(...source(volumeId, targetPath));
      else await mount("--bind", stagingTargetPath, targetPath);
      if (readonly) await run("mount", ["-o", "remount,bind,ro", targetPath]);
      return {};
    },
    nodeUnpublishVolume: async ({ targetPath }) => {
      await unmount(targetPath);
      await rm(targetPath, { recursive: false, force: true }).catch(() => run("rmdir", [targetPath]));
      return {};
    },
    nodeGetVolumeStats: async ({ volumePath }) => {
      await existing(volumePath);
      return { usage: [{ unit: 1, total: 3n, used: 2n, available: 1n }] };
    },
    nodeExpandVolume: async ({ volumeId, volumePath, capacityRange }) => {
      await existing(volumePath);
      const capacityBytes = capacityRange?.requiredBytes ?? 0n;
      await options.expand?.(volumeId, capacityBytes);
      return { capacityBytes };
    },
    getInfo: () => Promise.resolve({ type: "CSIPlugin", name, endpoint: socket, supportedVersions: [...versions] }),
    notifyRegistrationStatus: (request) => {
      told.push(request as unknown as (typeof told)[number]);
      return Promise.resolve({});
    },
  };
  const handlers = Object.entries(work).map(([rpc, answer]) => [
    rpc,
    (
      asked: { readonly request: unknown; on(event: "cancelled", then: () => void): unknown },
      reply: (failure: unknown, value?: unknown) => void,
    ): void => {
      const { request } = asked;
      const call = { rpc, request: request as CsiDriverCall["request"] };
      calls.push(call);
      rules.push(...brokenRules(rpc, call.request, known, state).map((rule) => `${rpc}: ${rule}`));
      const ended = followCall(rpc, call.request, state);
      // A caller that is gone has no call under way.
      asked.on("cancelled", () => ended(false));
      const fault = options.fault?.(call) ?? refusal(rpc, call.request);
      if (fault !== undefined) ended(false);
      if (fault === "hang") return;
      if (fault !== undefined) {
        if ("code" in fault) reply(fault);
        else reply(null, fault);
        return;
      }
      answer(request as VolumeRequest).then(
        (value) => {
          ended(true);
          if (options.faultAfter?.(call) === undefined) reply(null, withDefaults(rpc, value));
        },
        (thrown: unknown) => {
          ended(false);
          reply(thrown instanceof CsiRefusal ? thrown.answer : { code: 13, details: String(thrown) });
        },
      );
    },
  ]);
  await mkdir(dirname(socket), { recursive: true });
  const server = await startGrpcServer(
    socket,
    [IdentityDefinition, NodeDefinition, RegistrationDefinition],
    Object.fromEntries(handlers),
  );
  return {
    calls,
    told,
    brokenRules: rules,
    stop: () => server.stop(),
    release: async () => {
      for (const target of [...mounted].toReversed()) await unmount(target);
      if (rules.length > 0) throw new Error(`the kubelet broke rules of CSI: ${rules.join("; ")}`);
    },
  };
}

/** An answer other than Internal. */
class CsiRefusal extends Error {
  readonly answer: { readonly code: number; readonly details: string };

  constructor(code: number, details: string) {
    super(details);
    this.answer = { code, details };
  }
}

/** Rejects with NotFound if no volume is at the path. */
const existing = async (path: string): Promise<void> => {
  await stat(path).catch(() => {
    throw new CsiRefusal(GrpcStatus.notFound, `no volume at ${path}`);
  });
};

/** Refuses a request without a required field, as the specification has it. */
function refusal(rpc: string, request: CsiRequest) {
  const [field] = missingFields(rpc, request);
  return field === undefined ? undefined : { code: GrpcStatus.invalidArgument, details: `${field} is missing` };
}

/** Generated messages are encoded with all of their fields. */
const withDefaults = (rpc: string, value: object): object =>
  rpc === "nodeGetInfo" ? { accessibleTopology: undefined, ...value } : value;

async function isMounted(path: string): Promise<boolean> {
  const table = await readFile("/proc/self/mountinfo", "utf8");
  return table.split("\n").some((line) => line.split(" ")[4] === path);
}
