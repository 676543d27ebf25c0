import { expect, it } from "vitest";
import { hugePageLimits } from "../../../../src/core/resources/hugePageLimits.ts";
import { parseResourceList } from "../../../../src/core/resources/resourceList.ts";

it.each<[Readonly<Record<string, string>>, object]>([
  [{}, {}],
  [{ cpu: "1", memory: "1Gi" }, {}],
  [{ "hugepages-2Mi": "4Mi" }, { "2MB": 4_194_304 }],
  [
    { "hugepages-2Mi": "4Mi", "hugepages-2048Ki": "2Mi", "hugepages-1Gi": "0" },
    { "2MB": 6_291_456, "1GB": 0 },
  ],
  [{ "hugepages-1023": "1" }, { "1023B": 1 }],
  [{ "hugepages-1024": "1" }, { "1KB": 1 }],
  [{ "hugepages-1024Pi": "1" }, { "1024PB": 1 }],
  [{ "hugepages-": "1", "hugepages-x": "1" }, {}],
])("limits %j become %j", (amounts, expected) => {
  expect(hugePageLimits(parseResourceList(amounts))).toEqual(expected);
});
