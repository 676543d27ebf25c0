import { lastValueFrom, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { toKubeletError } from "../../../../src/core/errors.ts";
import { type FlexDriverMap, flexOutcome } from "../../../../src/core/flex/flexAnswer.ts";
import type { FlexContext, FlexVolume } from "../../../../src/pipelines/volumes/flexVolumes.ts";
import { growFlex, isGrownHere } from "../../../../src/pipelines/volumes/growFlex.ts";
import type { VolumePorts } from "../../../../src/pipelines/volumes/volumeEffects.ts";
import { createCell } from "../../../../src/state/cell.ts";

const MOUNT_POINT = "/k/plugins/mounts/v";
const layout = {
  path: "/k/pods/u/v",
  flex: {
    driver: "acme/disk",
    volumeName: "acme/disk/v",
    mountPoint: MOUNT_POINT,
    options: {},
    ownOptions: { a: "b" },
  },
} as unknown as FlexVolume["layout"];
const capacity = { claim: { namespace: "d", name: "c" }, size: "2Ki", claimed: "1Ki" };

/** The calls of the driver and of the node's tools; the driver answers with `printed`. */
async function grown(printed: string, sources: readonly string[], devicePath?: string) {
  const calls: string[] = [];
  const entries = sources.map((source) => ({ mountPoint: MOUNT_POINT, source }));
  const ports = {
    mounts: {
      list: () => of(entries),
      growFileSystem: ({ device, mountPoint }: { readonly device: string; readonly mountPoint: string }) => {
        calls.push(`grow ${device} ${mountPoint}`);
        return of(undefined);
      },
    },
  } as unknown as VolumePorts;
  const context = {
    port: {
      run: (driver: string, args: readonly string[]) => {
        calls.push(`${driver} ${args.join(" ")}`);
        return of({ printed });
      },
    },
    node: createCell<Node | undefined>({
      status: devicePath === undefined ? {} : { volumesAttached: [{ name: "acme/disk/v", devicePath }] },
    }),
  } as unknown as FlexContext;
  const error = await lastValueFrom(growFlex(ports, context, layout, capacity), { defaultValue: undefined }).then(
    () => undefined,
    (thrown: unknown) => toKubeletError(thrown).message,
  );
  return error === undefined ? calls : [...calls, error];
}
const SUCCESS = '{"status":"Success"}';
const UNKNOWN = '{"status":"Not supported"}';

describe("growFlex", () => {
  it.each<[string, string, readonly string[], string | undefined, readonly string[]]>([
    ["by the driver", SUCCESS, [], undefined, ['acme/disk expandfs {"a":"b"}  /k/pods/u/v 2048 1024']],
    [
      "with the device that is mounted",
      SUCCESS,
      ["/dev/mapper/x"],
      "/dev/y",
      ['acme/disk expandfs {"a":"b"} /dev/mapper/x /k/pods/u/v 2048 1024'],
    ],
    [
      "with the device of the attachment",
      SUCCESS,
      ["server:/share"],
      "/dev/y",
      ['acme/disk expandfs {"a":"b"} /dev/y /k/pods/u/v 2048 1024'],
    ],
    [
      "by the node where the driver cannot",
      UNKNOWN,
      ["/dev/x"],
      undefined,
      ['acme/disk expandfs {"a":"b"} /dev/x /k/pods/u/v 2048 1024', "grow /dev/x /k/pods/u/v"],
    ],
    [
      "by nobody without a device",
      UNKNOWN,
      [],
      undefined,
      [
        'acme/disk expandfs {"a":"b"}  /k/pods/u/v 2048 1024',
        "the flexVolume driver acme/disk has no expandfs, and no device",
      ],
    ],
  ])("grows a file system %s", async (_, printed, sources, devicePath, expected) => {
    expect(await grown(printed, sources, devicePath)).toEqual(expected);
  });

  it("has the node take part where the driver says so, which is its default", () => {
    const capabilitiesOf = (text: string) => {
      const outcome = flexOutcome("init", { printed: text });
      if (outcome.kind !== "done") throw new Error(text);
      return outcome.capabilities;
    };
    const withDriver = (printed: string) => ({
      drivers: createCell<FlexDriverMap>(
        new Map([["acme/disk", { name: "acme/disk", capabilities: capabilitiesOf(printed) }]]),
      ),
    });
    expect([
      isGrownHere(layout, withDriver(SUCCESS)),
      isGrownHere(layout, withDriver('{"status":"Success","capabilities":{"requiresFSResize":false}}')),
      isGrownHere(layout, { drivers: createCell<FlexDriverMap>(new Map()) }),
      isGrownHere({ ...layout, flex: undefined } as never, undefined),
    ]).toEqual([true, false, false, true]);
  });
});
