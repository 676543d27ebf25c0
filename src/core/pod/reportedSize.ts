/**
 * The size of a running container as the runtime reports it, for its status: amounts other than those the spec comes to
 * (what was converted and rounded on the way is told as it was written), and in a section the spec has those it does not
 * state, which are limits of the pod as a whole. Memory requests no runtime knows.
 * Counterpart: convertContainerStatusResources (kubelet_pods.go).
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
/** What the kernel has where nothing was asked for. */
const LEAST_CPU_SHARES = 2n;
const LEAST_CPU_LIMIT_MILLI = 10n;

/** `container` with the amounts the runtime reports. */
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

/** Whether the reported CPU limit is told: one the spec does not state is the pod's, unless it is the least there is. */
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
