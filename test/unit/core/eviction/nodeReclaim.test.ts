import { describe, expect, it } from "vitest";
import { type DiskLayout, reclaimSteps } from "../../../../src/core/eviction/nodeReclaim.ts";
import type { Signal } from "../../../../src/core/eviction/thresholds.ts";

const ONE_DISK: DiskLayout = { hasImageFs: false, isSplit: false };
const IMAGE_DISK: DiskLayout = { hasImageFs: true, isSplit: false };
const SPLIT: DiskLayout = { hasImageFs: true, isSplit: true };

describe("what the node frees before it evicts pods", () => {
  it.each<[string, Signal, DiskLayout, readonly string[]]>([
    ["memory", "memory.available", ONE_DISK, []],
    ["memory of pods", "allocatableMemory.available", SPLIT, []],
    ["process ids", "pid.available", IMAGE_DISK, []],
    ["the only disk", "nodefs.available", ONE_DISK, ["containers", "images"]],
    ["the only disk, as that of images", "imagefs.inodesFree", ONE_DISK, ["containers", "images"]],
    ["the only disk, as that of containers", "containerfs.inodesFree", ONE_DISK, ["containers", "images"]],
    ["the node's disk beside one of images", "nodefs.inodesFree", IMAGE_DISK, []],
    ["a disk of images and layers", "imagefs.available", IMAGE_DISK, ["containers", "images"]],
    [
      "a disk of images and layers, as that of containers",
      "containerfs.available",
      IMAGE_DISK,
      ["containers", "images"],
    ],
    ["a disk of images alone", "imagefs.inodesFree", SPLIT, ["images"]],
    ["the node's disk with layers", "nodefs.available", SPLIT, ["containers"]],
    ["the node's disk with layers, as that of containers", "containerfs.available", SPLIT, ["containers"]],
  ])("%s", (_, signal, layout, steps) => {
    expect(reclaimSteps(signal, layout)).toEqual(steps);
  });
});
