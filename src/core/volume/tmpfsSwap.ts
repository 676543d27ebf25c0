/** Decides whether a tmpfs can be kept out of swap. Upstream: IsTmpfsNoswapOptionSupported of pkg/kubelet/util/swap. */
import { isVersionAtLeast } from "../resources/kernelVersion.ts";

/** The first kernel with the mount option `noswap`; distributions bring it to older ones. */
const FIRST_KERNEL = "6.4";

/** The facts that decide. */
export interface TmpfsHost {
  readonly kernelVersion: string;
  /** Content of /proc/self/uid_map; undefined when there is none. */
  readonly uidMap: string | undefined;
}

/** All IDs map to themselves outside of user namespaces. The kernel refuses `noswap` inside. */
const isInUserNamespace = (uidMap: string | undefined): boolean =>
  uidMap !== undefined && !/^\s*0\s+0\s+4294967295\s*$/.test(uidMap);

/** Returns whether the kernel has the option; undefined when only an attempt can tell. */
export function hasTmpfsNoSwap({ kernelVersion, uidMap }: TmpfsHost): boolean | undefined {
  if (isInUserNamespace(uidMap)) return false;
  return isVersionAtLeast(kernelVersion, FIRST_KERNEL) === true ? true : undefined;
}
