/**
 * The size of a running container as the runtime reports it, for its status. Only amounts the spec states are told, and
 * only where the report is another than these amounts come to: what was converted and rounded on the way is told as it
 * was written. Memory requests no runtime knows. Counterpart: convertContainerStatusResources (kubelet_pods.go).
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

function reportedLimits({ cpu, memory }: Amounts, reported: RuntimeResources): Amounts {
  const { cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = reported;
  const isOtherCpu =
    cpu !== undefined &&
    cpuQuotaUs > 0n &&
    cpuPeriodUs > 0n &&
    milliCpuToQuotaUs(milliOf(cpu), cpuPeriodUs) !== cpuQuotaUs;
  const isOtherMemory =
    memory !== undefined &&
    memoryLimitBytes > 0n &&
    quantityValue(parseQuantity(memory) ?? quantityOf(0)) !== memoryLimitBytes;
  return {
    ...(isOtherCpu ? { cpu: milliText((cpuQuotaUs * MILLI_PER_CPU) / cpuPeriodUs) } : {}),
    ...(isOtherMemory ? { memory: formatQuantity(quantityOf(memoryLimitBytes, "BinarySI")) } : {}),
  };
}

function reportedRequests({ cpu }: Amounts, { cpuShares }: RuntimeResources): Amounts {
  const isOther = cpu !== undefined && cpuShares > 0n && milliCpuToShares(milliOf(cpu)) !== cpuShares;
  const roundedUp = (cpuShares * MILLI_PER_CPU + SHARES_PER_CPU - 1n) / SHARES_PER_CPU;
  return isOther ? { cpu: milliText(roundedUp) } : {};
}
