import { expect, it } from "vitest";
import { epochMs, fullNameOf } from "../../../../src/core/ids.ts";
import {
  decodeRollback,
  encodeRollback,
  isRollbackFile,
  rollbackFileName,
} from "../../../../src/core/rollback/rollbackFile.ts";
import { podOf } from "../../../support/pods.ts";

const GOOD = podOf();
const NAME = fullNameOf(GOOD.metadata);
const FILE = rollbackFileName(NAME);
const TRIAL = { uid: "t", startedAt: epochMs(5), boot: "b" };
const FAILED = { uid: "f", at: epochMs(6), why: "because" };
const RECORD = { good: GOOD, trial: TRIAL, failed: FAILED };
const with_ = (more: object): string => JSON.stringify({ ...JSON.parse(encodeRollback(RECORD)), ...more });

it("reads what it wrote", () => {
  expect(isRollbackFile(FILE)).toBe(true);
  expect(decodeRollback(FILE, encodeRollback(RECORD))).toEqual({ name: NAME, record: RECORD });
  const short = { good: GOOD, trial: undefined, failed: undefined };
  expect(decodeRollback(FILE, encodeRollback(short))).toEqual({ name: NAME, record: short });
});

it("bounds the reason", () => {
  const text = encodeRollback({ ...RECORD, failed: { ...FAILED, why: "x".repeat(5_000) } });
  expect(decodeRollback(FILE, text)?.record.failed?.why).toHaveLength(1_000);
});

it.each([
  ["no text", ""],
  ["half a text", encodeRollback(RECORD).slice(0, 100)],
  ["another version", with_({ version: 2 })],
  ["no pod", with_({ good: undefined })],
  ["a pod without a name", with_({ good: { metadata: { namespace: "demo", uid: "u" }, spec: GOOD.spec } })],
  ["a pod that is not valid", with_({ good: { ...GOOD, spec: { ...GOOD.spec, containers: [] } } })],
  ["a pod of wrong types", with_({ good: { ...GOOD, spec: { ...GOOD.spec, containers: 5, volumes: "v" } } })],
  ["a trial without a time", with_({ trial: { uid: "t", boot: "b" } })],
  ["a failure that is none", with_({ failed: "yes" })],
])("refuses %s", (_title, text) => {
  expect(decodeRollback(FILE, text)).toBeUndefined();
});

it("refuses the record of another manifest, and names that are no records", () => {
  expect(
    decodeRollback(rollbackFileName(fullNameOf({ name: "other", namespace: "demo" })), encodeRollback(RECORD)),
  ).toBeUndefined();
  expect(["x.json", `${FILE}.new`, "../etc"].filter(isRollbackFile)).toEqual([]);
});
