/** From Kubernetes amounts to cgroup numbers (v1 units). Counterpart: pkg/kubelet/cm/helpers_linux.go. */

/** Least and most CPU weight of a v1 cgroup. */
export const MIN_CPU_SHARES = 2n;
const MAX_CPU_SHARES = 262_144n;
/** Most CPU weight of a v2 cgroup; the least is 1. */
const MAX_WEIGHT = 10_000;
const SHARES_PER_CPU = 1024n;
/** Shortest quota the kernel takes, in microseconds. */
const MIN_QUOTA_US = 1000n;
const MILLI_PER_CPU = 1000n;

/** Relative CPU weight for a request in thousandths of a CPU; no request is the least weight. */
export function milliCpuToShares(cpuMilli: bigint): bigint {
  const shares = (cpuMilli * SHARES_PER_CPU) / MILLI_PER_CPU;
  if (shares < MIN_CPU_SHARES) return MIN_CPU_SHARES;
  return shares > MAX_CPU_SHARES ? MAX_CPU_SHARES : shares;
}

/** Microseconds of CPU per period for a limit in thousandths of a CPU; 0 when there is no limit. */
export function milliCpuToQuotaUs(cpuMilli: bigint, periodUs: bigint): bigint {
  if (cpuMilli === 0n) return 0n;
  const quota = (cpuMilli * periodUs) / MILLI_PER_CPU;
  return quota < MIN_QUOTA_US ? MIN_QUOTA_US : quota;
}

/** v1 CPU shares as v2 weight, the kubelet's linear way: 2 to 262144 become 1 to 10000. */
export function sharesToWeight(shares: number): number {
  const least = Number(MIN_CPU_SHARES);
  const span = Number(MAX_CPU_SHARES) - least;
  return 1 + Math.floor(((Math.max(shares, least) - least) * (MAX_WEIGHT - 1)) / span);
}

/** The shares of v1 that a weight of v2 stands for: the way back of `sharesToWeight`, as cadvisor takes it. */
export function weightToShares(weight: number): number {
  const least = Number(MIN_CPU_SHARES);
  const span = Number(MAX_CPU_SHARES) - least;
  return least + Math.floor(((weight - 1) * span) / (MAX_WEIGHT - 1));
}
