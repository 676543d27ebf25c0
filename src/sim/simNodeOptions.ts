/** Options of a simulated node. Together they determine its run: the same options give the same trace. */
import type { Pod } from "../core/api.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { ResourceAmounts } from "../core/resources/resourceList.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { CredentialPlugins } from "../ports/credentials.ts";
import type { DevicePlugins } from "../ports/devicePlugins.ts";
import type { CsiDriverPort } from "../ports/csiDrivers.ts";
import type { DraDrivers } from "../ports/draDrivers.ts";
import type { Machine } from "../ports/host.ts";
import type { IpTables } from "../ports/ipTables.ts";
import type { CloudMetadata } from "../ports/cloudMetadata.ts";
import type { Logind } from "../ports/logind.ts";
import type { Plugins } from "../ports/plugins.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import type { SimCgroupsOptions } from "./host/simCgroups.ts";
import type { SimHostOptions } from "./host/simHost.ts";
import type { SimFilesOptions } from "./host/simFiles.ts";
import type { SimMountsOptions } from "./host/simMounts.ts";
import type { SimVolumeFilesOptions } from "./host/simVolumeFiles.ts";
import type { SimManifestPageOptions } from "./podSources/simManifestPage.ts";
import type { SimManifest } from "./podSources/simManifests.ts";
import type { SimAction } from "./runtime/simCall.ts";
import type { SimRuntimeOptions } from "./runtime/simRuntime.ts";
import type { SimChecker } from "./simChecker.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import type { SimObservation } from "./simObservation.ts";
import type { SimAnswers } from "./simProbers.ts";
import type { SimSubject } from "./simSubjects.ts";
import type { HeapScheduler } from "./time/heapScheduler.ts";
import type { SimClock } from "./time/simClock.ts";

/** Decides the outcome of a request to the runtime. */
export type SimCallFault = (rpc: CriRpc, about: SimSubject, request: unknown) => SimAction;

type RuntimeParts = Pick<
  SimRuntimeOptions,
  "programs" | "images" | "registry" | "latency" | "intercept" | "goesOn" | "modern" | "handlers" | "eventLatencyMs"
>;

/** Options of a node; all but the seed have a default. */
export interface SimNodeOptions extends RuntimeParts {
  readonly seed: string | number;
  /** Static pods: file name in the manifest directory to content. */
  readonly manifests?: Readonly<Record<string, SimManifest>>;
  /** Pods passed to the kubelet directly: complete, with defaults applied. Not with `api`. */
  readonly pods?: readonly Pod[];
  /** Source of API pods; runs on `scheduler`. Many nodes may share one. */
  readonly api?: SimApiServer;
  /** Virtual time shared with other nodes; default: the node's own. */
  readonly scheduler?: HeapScheduler;
  readonly config?: Partial<KubeletConfig>;
  readonly machine?: Partial<Machine>;
  /** Extended resources of the node, as device plugins report them; default: none. */
  readonly devices?: ResourceAmounts;
  /** `configMapAndSecretChangeDetectionStrategy`; default `Watch`. */
  readonly objectStrategy?: string;
  /** Feature gates ClusterTrustBundleProjection and PodCertificateRequest; default: off. */
  readonly hasProjections?: boolean;
  /** Runs the credential plugins of `config`; default: there are none. */
  readonly credentialPlugins?: CredentialPlugins;
  /** Drivers of Dynamic Resource Allocation, which outlive crashes of the kubelet; default: there are none. */
  readonly draDrivers?: (clock: SimClock) => DraDrivers;
  readonly csiDrivers?: (clock: SimClock) => CsiDriverPort;
  /** The login manager of the machine; default: there is none. */
  readonly logind?: Logind;
  /** The metadata service of the cloud; default: the node asks none. */
  readonly cloudMetadata?: CloudMetadata;
  /** The firewall of the machine; default: there is none. */
  readonly ipTables?: (clock: SimClock) => IpTables;
  /** Plugins that register, which outlive crashes of the kubelet; default: none can. */
  readonly plugins?: Plugins;
  /** Device plugins, which outlive crashes of the kubelet; default: there are none. */
  readonly devicePlugins?: DevicePlugins;
  /** Default: none. */
  readonly runtimeClasses?: RuntimeClasses;
  readonly fileFault?: SimFilesOptions["fault"];
  readonly mountFate?: SimMountsOptions["fate"];
  readonly mountGoesOn?: SimMountsOptions["goesOn"];
  readonly reclaimMs?: SimHostOptions["reclaimMs"];
  readonly volumeFault?: SimVolumeFilesOptions["fault"];
  /** Decides the outcome of requests for the manifest page; called only if `sources` has `http`. */
  readonly pageFate?: SimManifestPageOptions["fate"];
  readonly cgroupFault?: SimCgroupsOptions["fault"];
  /** Like `intercept`, but with the subject of the request. Called first; `proceed` defers to `intercept`. */
  readonly callFault?: SimCallFault;
  /** Wraps the runtime that the kubelet sees. */
  readonly adaptRuntime?: (runtime: RuntimeService, clock: SimClock) => RuntimeService;
  /** Replaces the production kubelet, to verify that checkers detect a broken one. */
  readonly createKubelet?: CreateKubelet;
  /** Answers probes of network addresses; default: success. */
  readonly answers?: (clock: SimClock) => SimAnswers;
  /** Stateful checkers; default: the usual ones, created for this node. */
  readonly checkers?: readonly SimChecker[];
  /** Observes every event, after trace and checkers. */
  readonly watch?: (observation: SimObservation) => void;
  readonly maxTraceLines?: number;
  readonly maxLogLines?: number;
}
