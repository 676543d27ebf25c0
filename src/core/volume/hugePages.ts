/** Page size of an emptyDir with huge pages. Upstream: getPageSizeMountOption of pkg/volume/emptydir. */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { regularFirst } from "../pod/containers.ts";
import { formatQuantity, parseQuantity } from "../quantity.ts";
import { err, ok, type Result } from "../result.ts";

const PREFIX = "hugepages-";

const refuse = (message: string): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "FailedMount" }));

/** Returns the page sizes that the pod's containers request, in Kubernetes' form: `2Mi`. */
function requestedSizes({ spec }: Pod): readonly string[] {
  const names = [spec, ...regularFirst(spec)].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
  return [...new Set(names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length)))];
}

/**
 * Returns the value of the mount option `pagesize` for `HugePages` or `HugePages-2Mi`; the pod must request pages of
 * that size.
 */
export function hugePageSize(pod: Pod, medium: string): Result<string> {
  const [, ofMedium] = /^HugePages(?:-(.+))?$/.exec(medium) ?? [undefined, undefined];
  if (!medium.startsWith("HugePages")) return refuse(`unknown storage medium "${medium}"`);
  const sizes = requestedSizes(pod);
  if (ofMedium === undefined && sizes.length > 1) {
    return refuse(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  }
  const size = ofMedium === undefined ? sizes[0] : sizes.find((each) => each === ofMedium);
  const quantity = size === undefined ? undefined : parseQuantity(size);
  if (quantity === undefined)
    return refuse(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  return ok(formatQuantity(quantity));
}
