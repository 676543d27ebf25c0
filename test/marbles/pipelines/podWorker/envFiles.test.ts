import { firstValueFrom, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { readEnvFiles } from "../../../../src/pipelines/podWorker/envFiles.ts";
import { containerOf } from "../../../support/pods.ts";

const MIB = 1024 * 1024;
const tooLong = kubeletError("InvalidArgument", "it has more bytes");

describe("readEnvFiles", () => {
  it("reads each file once, and of all files together no more than the variables may have", async () => {
    const asked: number[] = [];
    const readInside = (_root: string, _path: string, maxBytes: number) => {
      asked.push(maxBytes / MIB);
      return maxBytes >= 0.75 * MIB ? of("x".repeat(0.75 * MIB)) : throwError(() => tooLong);
    };
    const env = Array.from({ length: 20 }, (_, index) => ({
      name: `A${index}`,
      valueFrom: { fileKeyRef: { volumeName: "v", path: `f${index % 10}`, key: "K" } },
    }));
    const read = await firstValueFrom(
      readEnvFiles({ readInside }, new Map([["v", { path: "/v" }]]), containerOf({ env })),
    );
    expect(asked).toEqual([1, 1, 1, 1, 1, 1, 1, 0.75, 0, 0]);
    expect([...read.values()].map(({ path, content }) => [path, content.ok])).toEqual([
      ...Array.from({ length: 8 }, (_, index) => [`/v/f${index}`, true]),
      ["/v/f8", false],
      ["/v/f9", false],
    ]);
  });
});
