/**
 * The resources of a running container as the runtime reports them, for its status. A reported amount replaces the one
 * in the spec only if the spec would convert to another value: rounding on the way does not show. A section that the
 * spec has also gets reported amounts that the spec omits, which are limits of the pod. Runtimes do not report memory
 * requests. Upstream: convertContainerStatusResources (pkg/kubelet/kubelet_pods.go).
 */
import type { Container } from "../api.ts";
import {
  formatQuantity,
  parseQuantity,
  quantityMilli,
  quantityOf,
  quantityOfMilli,
  quantityValue,
} from "../quantity.ts";
import { milliCpuToQuotaUs, milliCpuToShares } from "../resources/cgroupMath.ts";
import type { RuntimeResources } from "../runtime/podRuntimeStatus.ts";

const SHARES_PER_CPU = 1024n;
const MILLI_PER_CPU = 1000n;
/** Values that the kernel has when no amount was requested. */
const LEAST_CPU_SHARES = 2n;
const LEAST_CPU_LIMIT_MILLI = 10n;

/** Returns `container` with the amounts that the runtime reports. */
export function withReportedSize(container: Container, reported: RuntimeResources | undefined): Container {
  const { resources } = container;
  if (reported === undefined || resources === undefined) return container;
  const limits = { ...resources.limits, ...reportedLimits(resources.limits ?? {}, reported) };
  const requests = { ...resources.requests, ...reportedRequests(resources.requests ?? {}, reported) };
  return {
    ...container,
    resources: {
      ...resources,
      ...(resources.limits === undefined ? {} : { limits }),
      ...(resources.requests === undefined ? {} : { requests }),
    },
  };
}

type Amounts = Readonly<Record<string, string>>;

const milliOf = (text: string): bigint => quantityMilli(parseQuantity(text) ?? quantityOf(0));
const milliText = (milli: bigint): string => formatQuantity(quantityOfMilli(milli, "DecimalSI"));

/** Whether to report the CPU limit. A limit that the spec omits is the pod's, unless it is the minimum. */
function isOtherCpuLimit(stated: string | undefined, { cpuQuotaUs, cpuPeriodUs }: RuntimeResources): boolean {
  if (cpuQuotaUs <= 0n || cpuPeriodUs <= 0n) return false;
  if (stated === undefined) return cpuQuotaUs * MILLI_PER_CPU > LEAST_CPU_LIMIT_MILLI * cpuPeriodUs;
  return milliCpuToQuotaUs(milliOf(stated), cpuPeriodUs) !== cpuQuotaUs;
}

function reportedLimits({ cpu, memory }: Amounts, reported: RuntimeResources): Amounts {
  const { cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = reported;
  const stated = memory === undefined ? undefined : quantityValue(parseQuantity(memory) ?? quantityOf(0));
  return {
    ...(isOtherCpuLimit(cpu, reported) ? { cpu: milliText((cpuQuotaUs * MILLI_PER_CPU) / cpuPeriodUs) } : {}),
    ...(memoryLimitBytes > 0n && stated !== memoryLimitBytes
      ? { memory: formatQuantity(quantityOf(memoryLimitBytes, "BinarySI")) }
      : {}),
  };
}

function reportedRequests({ cpu }: Amounts, { cpuShares }: RuntimeResources): Amounts {
  const stated = cpu === undefined ? LEAST_CPU_SHARES : milliCpuToShares(milliOf(cpu));
  const roundedUp = (cpuShares * MILLI_PER_CPU + SHARES_PER_CPU - 1n) / SHARES_PER_CPU;
  return cpuShares > 0n && cpuShares !== stated ? { cpu: milliText(roundedUp) } : {};
}
