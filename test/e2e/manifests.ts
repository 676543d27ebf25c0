/** Manifests for pods of shell scripts. */
import type { Container, Pod } from "../../src/core/api.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";

/** Runs until SIGTERM, then exits with 0 at once. */
export const UNTIL_TERM = "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done";

/** A container that runs a script. */
export const script = (name: string, text: string, more: Partial<Container> = {}): Container => ({
  name,
  image: BUSYBOX_IMAGE,
  command: ["/bin/sh", "-c", text],
  ...more,
});

/** A container that runs until SIGTERM; `before` runs first. */
export const server = (name = "main", before = ":", more: Partial<Container> = {}): Container =>
  script(name, `${before}; ${UNTIL_TERM}`, more);

/**
 * A container that runs until SIGTERM, and exits with 1 then: a pod whose containers all exit with 0 in the
 * grace of an eviction is Succeeded, without a reason, as upstream.
 */
export const failing = (name: string, before: string, more: Partial<Container> = {}): Container =>
  script(name, `trap 'exit 1' TERM; ${before}; while :; do sleep 3600 & wait $!; done`, more);

/** A manifest; its grace period is one second. */
export const manifest = (
  name: string,
  spec: Partial<Pod["spec"]>,
  metadata: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { terminationGracePeriodSeconds: 1, dnsPolicy: "Default", ...spec },
});
