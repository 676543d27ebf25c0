/** Converts Kubernetes amounts to cgroup values (v1 units). Upstream: pkg/kubelet/cm/helpers_linux.go. */

/** Minimum and maximum CPU shares of a v1 cgroup. */
export const MIN_CPU_SHARES = 2n;
const MAX_CPU_SHARES = 262_144n;
/** Maximum CPU weight of a v2 cgroup; the minimum is 1. */
const MAX_WEIGHT = 10_000;
const SHARES_PER_CPU = 1024n;
/** Minimum quota that the kernel accepts, in microseconds. */
const MIN_QUOTA_US = 1000n;
const MILLI_PER_CPU = 1000n;

/** Returns the CPU shares for a request in thousandths of a CPU; no request gives the minimum. */
export function milliCpuToShares(cpuMilli: bigint): bigint {
  const shares = (cpuMilli * SHARES_PER_CPU) / MILLI_PER_CPU;
  if (shares < MIN_CPU_SHARES) return MIN_CPU_SHARES;
  return shares > MAX_CPU_SHARES ? MAX_CPU_SHARES : shares;
}

/** Returns the microseconds of CPU per period for a limit in thousandths of a CPU; 0 means no limit. */
export function milliCpuToQuotaUs(cpuMilli: bigint, periodUs: bigint): bigint {
  if (cpuMilli === 0n) return 0n;
  const quota = (cpuMilli * periodUs) / MILLI_PER_CPU;
  return quota < MIN_QUOTA_US ? MIN_QUOTA_US : quota;
}

/** Converts v1 CPU shares linearly to a v2 weight: 2 to 262144 become 1 to 10000. */
export function sharesToWeight(shares: number): number {
  const least = Number(MIN_CPU_SHARES);
  const span = Number(MAX_CPU_SHARES) - least;
  return 1 + Math.floor(((Math.max(shares, least) - least) * (MAX_WEIGHT - 1)) / span);
}

/** Converts a v2 weight to v1 shares: the inverse of `sharesToWeight`, as cadvisor computes it. */
export function weightToShares(weight: number): number {
  const least = Number(MIN_CPU_SHARES);
  const span = Number(MAX_CPU_SHARES) - least;
  return least + Math.floor(((weight - 1) * span) / (MAX_WEIGHT - 1));
}
