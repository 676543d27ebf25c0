import { expect, it } from "vitest";
import { flexDriverOf, flexExecutable } from "../../../../src/core/flex/flexDriverFiles.ts";

it.each([
  ["acme~disk", "acme/disk", "acme~disk/disk"],
  ["disk", "disk", "disk/disk"],
])("the directory %s has the driver %s", (directory, driver, executable) => {
  expect(flexDriverOf(directory)).toBe(driver);
  expect(flexExecutable(driver)).toBe(executable);
});

it("a hidden directory has no driver", () => expect(flexDriverOf(".acme~disk")).toBeUndefined());
