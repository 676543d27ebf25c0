import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { parseImageRef } from "../../../../src/core/image/imageRef.ts";

const SHA = `sha256:${"0123456789abcdef".repeat(4)}`;
const SHA_384 = `sha384:${"0".repeat(96)}`;
const SHA_512 = `sha512:${"0".repeat(128)}`;
const LONG = "a".repeat(255);

describe("parseImageRef", () => {
  it.each([
    ["busybox", "docker.io", "library/busybox", "latest", undefined, "busybox:latest"],
    ["busybox:1.37", "docker.io", "library/busybox", "1.37", undefined, "busybox:1.37"],
    ["user/app", "docker.io", "user/app", "latest", undefined, "user/app:latest"],
    ["docker.io/busybox", "docker.io", "library/busybox", "latest", undefined, "docker.io/busybox:latest"],
    ["index.docker.io/user/app:v1", "docker.io", "user/app", "v1", undefined, "index.docker.io/user/app:v1"],
    ["localhost/app", "localhost", "app", "latest", undefined, "localhost/app:latest"],
    ["localhost:5000/app", "localhost:5000", "app", "latest", undefined, "localhost:5000/app:latest"],
    ["registry.test:80/a/b/c:x", "registry.test:80", "a/b/c", "x", undefined, "registry.test:80/a/b/c:x"],
    ["[2001:db8::1]:5000/app:x", "[2001:db8::1]:5000", "app", "x", undefined, "[2001:db8::1]:5000/app:x"],
    ["rxlet.dev/host", "rxlet.dev", "host", "latest", undefined, "rxlet.dev/host:latest"],
    [`busybox@${SHA}`, "docker.io", "library/busybox", undefined, SHA, `busybox@${SHA}`],
    [`busybox:1.37@${SHA}`, "docker.io", "library/busybox", "1.37", SHA, `busybox:1.37@${SHA}`],
    ["a__b/c-d.e_f:T_1.2-x", "docker.io", "a__b/c-d.e_f", "T_1.2-x", undefined, "a__b/c-d.e_f:T_1.2-x"],
    [`r.test/${LONG}`, "r.test", LONG, "latest", undefined, `r.test/${LONG}:latest`],
    [`a:${"t".repeat(128)}`, "docker.io", "library/a", "t".repeat(128), undefined, `a:${"t".repeat(128)}`],
    [`a@${SHA_384}`, "docker.io", "library/a", undefined, SHA_384, `a@${SHA_384}`],
    [`a@${SHA_512}`, "docker.io", "library/a", undefined, SHA_512, `a@${SHA_512}`],
    ["UPPER/app", "UPPER", "app", "latest", undefined, "UPPER/app:latest"],
  ])("%s", (text, domain, path, tag, digest, pullName) => {
    const canonical = `${domain}/${path}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
    expect(parseImageRef(text)).toEqual({
      ok: true,
      value: { domain, path, tag, digest, repository: `${domain}/${path}`, canonical, pullName },
    });
  });

  it.each([
    ["", "invalid reference format"],
    [":tag", "invalid reference format"],
    ["a b", "invalid reference format"],
    ["Busybox", "invalid reference format: repository name (library/Busybox) must be lowercase"],
    ["registry.test/App:1", "invalid reference format: repository name (App) must be lowercase"],
    ["BAD//NAME", "invalid reference format: repository name (/NAME) must be lowercase"],
    ["busybox:", "invalid reference format"],
    [`busybox:${"t".repeat(129)}`, "invalid reference format"],
    ["busybox@sha256:short", "invalid reference format"],
    [`busybox@${SHA.toUpperCase().replace("SHA256", "sha256")}`, "invalid checksum digest format"],
    [`busybox@${SHA}00`, "invalid checksum digest length"],
    [`a@sha512:${"0".repeat(64)}`, "invalid checksum digest length"],
    [`a@sha384:${"0".repeat(64)}`, "invalid checksum digest length"],
    [`Busybox@${SHA}`, "invalid reference format: repository name (library/Busybox@sha256) must be lowercase"],
    [`Busybox:1@${SHA}`, "invalid reference format: repository name (library/Busybox) must be lowercase"],
    [`busybox@md5:${"0".repeat(32)}`, "unsupported digest algorithm"],
    ["a//b", "invalid reference format"],
    ["-a/b", "invalid reference format"],
    [SHA.slice(7), `invalid repository name (${SHA.slice(7)}), cannot specify 64-byte hexadecimal strings`],
    [`registry.test/${"a".repeat(256)}`, "repository name must not be more than 255 characters"],
  ])("rejects %j", (text, problem) => {
    expect(parseImageRef(text)).toEqual({
      ok: false,
      error: kubeletError(
        "InvalidArgument",
        `Failed to apply default image tag "${text}": couldn't parse image name "${text}": ${problem}`,
        { reason: "InvalidImageName" },
      ),
    });
  });
});
