/** The file of the claims: the same bytes as upstream's, and damaged files are recognized. */
import { describe, expect, it } from "vitest";
import { crc32 } from "../../../../src/core/crc32.ts";
import { NO_CLAIMS, type ClaimInfo } from "../../../../src/core/dra/claimInfo.ts";
import { decodeClaims, encodeClaims } from "../../../../src/core/dra/claimsFile.ts";

const DRIVER = "test-driver.cdi.k8s.io";
const info: ClaimInfo = {
  namespace: "default",
  name: "example",
  uid: "067798be-454e-4be4-9047-1aa06aea63f7",
  podUids: new Set(["139cdb46-f989-4f17-9561-ca10cfb509a6"]),
  drivers: new Map([
    [
      DRIVER,
      [
        {
          poolName: "worker-1",
          deviceName: "dev-1",
          requestNames: ["test request"],
          cdiDeviceIds: ["example.com/example=cdi-example"],
        },
      ],
    ],
  ]),
  isPrepared: false,
};
const infos = new Map([["default/example", info]]);
const file = (data: string, checksum = crc32(data)): string => JSON.stringify({ Data: data, Checksum: checksum });
const head = '"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1"';

/** Data and checksum that upstream 1.34 writes for this claim; it has no share IDs. */
const OLDER_DATA = `{${head},"Entries":[{"ClaimUID":"${info.uid}","ClaimName":"example","Namespace":"default","PodUIDs":{"139cdb46-f989-4f17-9561-ca10cfb509a6":{}},"DriverState":{"${DRIVER}":{"Devices":[{"PoolName":"worker-1","DeviceName":"dev-1","RequestNames":["test request"],"CDIDeviceIDs":["example.com/example=cdi-example"]}]}}}]}`;
const OLDER_CHECKSUM = 1_597_924_435;
/** The files of a kubelet 1.36.2 without claims, and with this claim. */
const EMPTY_FILE = String.raw`{"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v1\",\"ClaimInfoStateList\":[]}","Checksum":2361995144}`;
const DATA = OLDER_DATA.replace("Entries", "ClaimInfoStateList").replace(
  '"RequestNames"',
  '"ShareID":null,"RequestNames"',
);
const CHECKSUM = 2_570_581_864;

describe("the file of the claims", () => {
  it("has the checksum of upstream", () => {
    const sums = [0, 0xcbf43926, OLDER_CHECKSUM, CHECKSUM];
    expect(["", "123456789", OLDER_DATA, DATA].map(crc32)).toEqual(sums);
  });

  it("is read as upstream wrote it, also by an earlier release", () => {
    expect(decodeClaims(file(OLDER_DATA, OLDER_CHECKSUM))).toEqual({ ok: true, value: infos });
  });

  it("is read and written as a kubelet 1.36.2 has it", () => {
    expect([encodeClaims(NO_CLAIMS), encodeClaims(infos)]).toEqual([EMPTY_FILE, file(DATA)]);
    expect([EMPTY_FILE, file(DATA)].map(decodeClaims)).toEqual([
      { ok: true, value: NO_CLAIMS },
      { ok: true, value: infos },
    ]);
  });

  it("is written as upstream's encoder does: fixed order of fields, sorted keys, null for nothing, escaped HTML", () => {
    const drivers = new Map([
      ["b", []],
      ["a", [{ poolName: "<p>", deviceName: "d", shareId: "s-1", requestNames: [], cdiDeviceIds: ["x"] }]],
    ]);
    const podUids = new Set(["p2", "p1"]);
    const claim: ClaimInfo = { namespace: "n", name: "c", uid: "u", podUids, drivers, isPrepared: true };
    const data = `{${head},"ClaimInfoStateList":[{"ClaimUID":"u","ClaimName":"c","Namespace":"n","PodUIDs":{"p1":{},"p2":{}},"DriverState":{"a":{"Devices":[{"PoolName":"\\u003cp\\u003e","DeviceName":"d","ShareID":"s-1","RequestNames":null,"CDIDeviceIDs":["x"]}]},"b":{"Devices":null}}}]}`;
    expect(JSON.parse(encodeClaims(new Map([["n/c", claim]])))).toEqual({ Data: data, Checksum: crc32(data) });
  });

  it.each([
    ["no claims", NO_CLAIMS],
    ["a claim", infos],
    ["a shared device", new Map([["default/example", { ...info, drivers: new Map([["d", [sharedDevice()]]]) }]])],
  ])("is read back: %s", (_, claims) => {
    expect(decodeClaims(encodeClaims(claims))).toEqual({ ok: true, value: claims });
  });

  it("reads an entry list that upstream wrote as null", () => {
    expect(decodeClaims(file(`{${head},"ClaimInfoStateList":null}`))).toEqual({ ok: true, value: NO_CLAIMS });
  });

  it.each([
    ["nothing", "", "the file is no DRA checkpoint"],
    ["half a file", encodeClaims(infos).slice(0, 100), "the file is no DRA checkpoint"],
    ["another checkpoint", '{"version":"v1","checksum":1}', "the file is no DRA checkpoint"],
    ["a wrong checksum", file(OLDER_DATA, 1), "checkpoint is corrupted: the checksum does not match"],
    ["data that is no JSON", file("{"), "the data of the checkpoint is not JSON"],
    ["a newer version", file('{"apiVersion":"v2","Entries":[]}'), "the checkpoint has another version"],
    ["no list", file(`{${head}}`), "the checkpoint has no list of claims"],
    ["an object for the list", file(`{${head},"ClaimInfoStateList":{}}`), "the checkpoint has no list of claims"],
    ["a claim without UID", file(`{${head},"Entries":[{"ClaimName":"c"}]}`), "claim 0 of the checkpoint is damaged"],
    [
      "a device without name",
      file(OLDER_DATA.replace('"DeviceName":"dev-1",', "")),
      "claim 0 of the checkpoint is damaged",
    ],
    [
      "a request that is no text",
      file(OLDER_DATA.replace('"test request"', "1")),
      "claim 0 of the checkpoint is damaged",
    ],
  ])("is refused: %s", (_, text, message) => {
    const read = decodeClaims(text);
    expect(read.ok ? undefined : [read.error.code, read.error.message]).toEqual(["InvalidArgument", message]);
  });
});

function sharedDevice() {
  return { poolName: "p", deviceName: "d", shareId: "half", requestNames: ["r"], cdiDeviceIds: [] };
}
