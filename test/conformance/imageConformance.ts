import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { ending } from "./runtimeFixture.ts";
import type { RuntimeUnderTest } from "./runtimeFixture.ts";

/** `.invalid` never resolves. */
const UNKNOWN = "registry.invalid/nothing/here:1";

/** Images: what the kubelet relies on. */
export function imageConformance(under: () => RuntimeUnderTest): void {
  it("knows the image it has, by name and by id", async () => {
    const status = async (image: string): Promise<cri.Image | undefined> =>
      (await firstValueFrom(under().images.imageStatus(cri.ImageStatusRequest.create({ image: { image } })))).image;
    const byName = await status(under().fixture.image);
    expect(byName?.id ?? "").not.toBe("");
    expect(await status(byName?.id ?? "")).toEqual(byName);
  });

  it("lists the image it has", async () => {
    const request = cri.ImageStatusRequest.create({ image: { image: under().fixture.image } });
    const { image } = await firstValueFrom(under().images.imageStatus(request));
    const { images } = await firstValueFrom(under().images.listImages(cri.ListImagesRequest.create()));
    expect(images.filter(({ id }) => id === image?.id)).toEqual([image]);
  });

  it("answers with no image, not with an error, for the status of one it does not have", async () => {
    const request = cri.ImageStatusRequest.create({ image: { image: UNKNOWN } });
    expect(await firstValueFrom(under().images.imageStatus(request))).toMatchObject({ image: undefined });
  });

  it("fails the pull of an image that cannot be had", async () => {
    const request = cri.PullImageRequest.create({ image: { image: UNKNOWN } });
    expect(await ending(under().images.pullImage(request, { deadlineMs: 30_000 }))).toHaveProperty("error");
  });

  it("fails to create a container from an image it does not have", async () => {
    const sandbox = await under().sandbox();
    await expect(under().create(sandbox, [], { image: { image: UNKNOWN } })).rejects.toHaveProperty("code");
    expect(await under().listContainers({ podSandboxId: sandbox.id })).toEqual([]);
  });

  it("removes an image it does not have without complaint", async () => {
    const request = cri.RemoveImageRequest.create({ image: { image: UNKNOWN } });
    expect(await ending(under().images.removeImage(request))).toEqual({ value: {} });
  });

  it("says which file system its images fill", async () => {
    const info = await firstValueFrom(under().images.imageFsInfo(cri.ImageFsInfoRequest.create()));
    expect(info.imageFilesystems.map(({ fsId, timestamp }) => [fsId?.mountpoint !== "", timestamp > 0n])).toEqual([
      [true, true],
    ]);
  });
}
