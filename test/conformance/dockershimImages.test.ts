/** Images of a real Docker: pulled from a registry with credentials, found by tag and digest, removed. */
import { firstValueFrom } from "rxjs";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { describeOnDocker } from "../support/dockerInstallation.ts";
import { startDockershimNode } from "../support/dockershimNode.ts";
import type { DockershimNode } from "../support/dockershimNode.ts";
import { type ImageRegistry, startImageRegistry } from "../support/imageRegistry.ts";
import { PAUSE_IMAGE, busyboxImage } from "../support/images.ts";
import { ending } from "./runtimeFixture.ts";

describeOnDocker("images of the dockershim", (installation) => {
  let node: DockershimNode;
  let registry: ImageRegistry;
  beforeAll(async () => {
    registry = await startImageRegistry(await busyboxImage("private/app:1", "1000:1000"));
    node = await startDockershimNode(installation);
  });
  afterAll(async () => {
    await node?.stop();
    await registry?.close();
  });

  const pull = (image: string, auth?: Parameters<typeof cri.AuthConfig.create>[0]) =>
    ending(node.client.images.pullImage(cri.PullImageRequest.create({ image: { image }, ...(auth && { auth }) })));
  const statusOf = async (image: string): Promise<cri.Image | undefined> =>
    (await firstValueFrom(node.client.images.imageStatus(cri.ImageStatusRequest.create({ image: { image } })))).image;

  it("are pulled with the right credentials alone, and known by tag, digest and id", async () => {
    const { host, digest, username, password } = registry;
    const byTag = `${host}/private/app:1`;
    expect(await pull(byTag)).toHaveProperty("error");
    expect(await pull(byTag, { username, password: "wrong" })).toHaveProperty("error");
    expect(await statusOf(byTag)).toBeUndefined();
    const pulled = await pull(byTag, { username, password, serverAddress: host });
    const image = await statusOf(byTag);
    expect(pulled).toEqual({ value: { imageRef: image?.id } });
    const byDigest = `${host}/private/app@${digest}`;
    expect(image).toMatchObject({ repoTags: [byTag], repoDigests: [byDigest], uid: { value: 1000n }, pinned: false });
    expect(await statusOf(byDigest)).toEqual(image);
    expect(await pull(byDigest, { username, password })).toEqual(pulled);
    const id = await node.under.run(await node.under.sandbox(), ["/bin/true"], { image: { image: byTag } });
    expect(await node.under.exited(id)).toMatchObject({ imageRef: byDigest, imageId: image?.id, exitCode: 0 });
    const remove = () =>
      ending(node.client.images.removeImage(cri.RemoveImageRequest.create({ image: { image: image?.id ?? "" } })));
    expect(await remove()).toHaveProperty("error");
    await node.under.cleanUp();
    expect([await remove(), await remove()]).toEqual([{ value: {} }, { value: {} }]);
    expect([await statusOf(byTag), await statusOf(byDigest)]).toEqual([undefined, undefined]);
  });

  it("say what they fill, and keep the one of pause containers pinned", async () => {
    const { imageFilesystems } = await firstValueFrom(node.client.images.imageFsInfo(cri.ImageFsInfoRequest.create()));
    const { images } = await firstValueFrom(node.client.images.listImages(cri.ListImagesRequest.create()));
    const size = images.reduce((sum, image) => sum + image.size, 0n);
    expect([imageFilesystems[0]?.usedBytes?.value, size > 0n]).toEqual([size, true]);
    expect(images.filter(({ pinned }) => pinned).map(({ repoTags }) => repoTags)).toEqual([[PAUSE_IMAGE]]);
  });
});
