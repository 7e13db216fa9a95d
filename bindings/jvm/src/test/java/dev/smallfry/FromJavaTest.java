package dev.smallfry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything must be there for Java as well: no Kotlin in the way, checked exceptions declared, null refused. */
class FromJavaTest {
    @TempDir
    Path directory;

    @Test
    void oneFile() throws IOException {
        Path path = directory.resolve("a");
        Smallfry.writeText(path, "one");
        Smallfry.writeText(path, new StringBuilder("two"), Durability.Data);
        Smallfry.writeText(path, "three", Durability.Full, true);
        assertEquals("three", Files.readString(path));
        byte[] bytes = "four".getBytes(StandardCharsets.UTF_8);
        Smallfry.writeBytes(path, bytes);
        Smallfry.writeBytes(path, bytes, Durability.None);
        Smallfry.writeBytes(path, bytes, Durability.Full, false);
        Smallfry.appendText(path, " five");
        Smallfry.appendText(path, " six", Durability.Data);
        Smallfry.appendText(path, " seven", Durability.None, true);
        assertEquals("four five six seven", Files.readString(path));
    }

    @Test
    void manyFiles() throws IOException {
        List<Path> paths = List.of(directory.resolve("new/a"), directory.resolve("new/b"));
        WriteOptions options = WriteOptions.builder()
                .durability(Durability.Full)
                .replace(true)
                .createParents(true)
                .onlyIfChanged(true)
                .createNew(false)
                .failFast(true)
                .within(null)
                .threads(2)
                .maxBytesInFlight(1 << 20)
                .build();
        byte[] bytes = {1, 2};
        WriteReport report = Smallfry.writeAll(
                List.of(new FileEntry(paths.get(0), "text"), new FileEntry(paths.get(1), bytes)), options);
        report.throwIfAnyFailed();
        assertEquals(2, report.getWritten());
        assertEquals(0, report.getUnchanged());
        assertTrue(report.getResults().get(0).isWritten());
        assertEquals(List.of(), report.getErrors());
        assertEquals(1, Smallfry.writeAll(List.of(new FileEntry(paths.get(0), "text"))).getWritten());

        ReadOptions reading = ReadOptions.builder()
                .within(directory)
                .failFast(false)
                .threads(1)
                .maxBytesInFlight(0)
                .maxFileSize(ReadOptions.MAX_ARRAY_LENGTH)
                .completionOrder(false)
                .build();
        assertEquals("text", Smallfry.readAllText(paths).get(0).getValue());
        assertArrayEquals(bytes, Smallfry.readAll(paths).get(1).getValue());
        ReadResult<byte[]> missing = Smallfry.readAll(List.of(Path.of("missing")), reading).get(0);
        assertNull(missing.getValueOrNull());
        assertNotNull(missing.getError());
        assertEquals("missing", assertThrows(NoSuchFileException.class, missing::getValue).getFile());
        assertEquals("text", Smallfry.readAllText(List.of(Path.of("new/a")), reading).get(0).getValue());
    }

    @Test
    void oneAfterTheOther() throws IOException {
        Path path = directory.resolve("a");
        Smallfry.writeText(path, "text");
        try (ReadStream<String> stream = Smallfry.streamText(List.of(path, path).iterator())) {
            assertTrue(stream.hasNext());
            assertEquals("text", stream.next().getValue());
        }
        try (ReadStream<byte[]> stream = Smallfry.stream(List.of(path).iterator(), ReadOptions.builder().build())) {
            assertEquals(4, stream.next().getValue().length);
            assertFalse(stream.hasNext());
        }
        Smallfry.stream(List.of(path).iterator()).close();
    }

    @Test
    void trees() throws IOException {
        Path from = Files.createDirectory(directory.resolve("from"));
        Path to = directory.resolve("to");
        Files.writeString(from.resolve("a"), "text");
        TreeCounts copied = Smallfry.copyTree(from, to);
        assertEquals(1, copied.getFiles());
        assertEquals(1, copied.getDirectories());
        assertEquals(4, copied.getBytes());
        CopyTreeOptions options = CopyTreeOptions.builder()
                .existing(Existing.Refuse)
                .method(CopyMethod.Copy)
                .links(Links.Absolute)
                .times(true)
                .owner(false)
                .accessLists(false)
                .attributes(false)
                .hardLinks(false)
                .onlyIfChanged(false)
                .durability(Durability.Data)
                .createParents(true)
                .mounts(false)
                .exclude(List.of("*.log"))
                .filter(path -> path.endsWith("a"))
                .threads(2)
                .onProgress((entries, bytes) -> assertTrue(entries >= 0 && bytes >= 0))
                .build();
        TreeException error = assertThrows(TreeException.class, () -> Smallfry.copyTree(from, to, options));
        assertEquals(from.resolve("a").toString(), error.getErrors().get(0).getFile());
        assertEquals(0, error.getDone().getFiles());
        MirrorTreeOptions mirroring = MirrorTreeOptions.builder()
                .delete(true)
                .compareContents(true)
                .dryRun(true)
                .hardLinks(false)
                .cloneBlocks(false)
                .mounts(false)
                .exclude(List.of("*.log"))
                .filter(path -> !path.endsWith("b"))
                .threads(2)
                .onProgress(null)
                .build();
        Files.writeString(to.resolve("gone"), "");
        MirrorReport report = Smallfry.mirrorTree(from, to, mirroring);
        assertEquals(1, report.getDeleted());
        assertTrue(report.getChanges().stream().anyMatch(it -> it.getChange() == Change.Delete && it.getPath().equals("gone")));
        assertEquals(4, Smallfry.mirrorTree(from, directory.resolve("mirror")).getChanged().getBytes());
        assertEquals(2, Smallfry.removeTree(to).getFiles());
        RemoveTreeOptions removing = RemoveTreeOptions.builder()
                .missingOk(true)
                .mounts(false)
                .threads(1)
                .onProgress(null)
                .build();
        assertEquals(0, Smallfry.removeTree(to, removing).getFiles());
        assertThrows(NullPointerException.class, () -> Smallfry.copyTree(from, null));
        assertThrows(IllegalArgumentException.class, () -> RemoveTreeOptions.builder().threads(-1).build());
    }

    @Test
    void archivesAndDigests() throws IOException {
        Path from = Files.createDirectory(directory.resolve("from"));
        Path archive = directory.resolve("archive");
        Path to = directory.resolve("to");
        Files.writeString(from.resolve("a"), "text");
        assertThrows(IllegalArgumentException.class, () -> Smallfry.pack(from, archive));
        PackOptions packing = PackOptions.builder()
                .format(ArchiveFormat.Zip)
                .name("x")
                .reproducible(true)
                .exclude(List.of("*.tmp"))
                .threads(2)
                .onProgress(null)
                .build();
        assertEquals(1, Smallfry.pack(from, archive, packing).getFiles());
        UnpackOptions unpacking = UnpackOptions.builder()
                .existing(Existing.Keep)
                .stripComponents(1)
                .times(false)
                .permissions(true)
                .linksMayLeave(true)
                .lastWins(true)
                .maxEntries(10)
                .maxBytes(100)
                .maxRatio(1000)
                .exclude(List.of())
                .threads(1)
                .onProgress((entries, bytes) -> assertTrue(entries >= bytes))
                .build();
        assertThrows(AssertionError.class, () -> Smallfry.unpack(archive, to, unpacking));
        assertEquals(1, Smallfry.unpack(archive, directory.resolve("other")).getFiles());
        HashOptions hashing = HashOptions.builder()
                .algorithm(HashAlgorithm.Sha256)
                .exclude(List.of("b"))
                .filter(path -> true)
                .cache(null)
                .threads(1)
                .onProgress(null)
                .build();
        Digest digest = Smallfry.hashTree(from, hashing);
        assertEquals(digest, Smallfry.hashTree(to, hashing));
        assertEquals(32, digest.toByteArray().length);
        assertEquals(Smallfry.hashFiles(List.of(from.resolve("a"))).get(0).getValue(),
                Smallfry.hashFiles(List.of(to.resolve("a")), HashOptions.builder().build()).get(0).getValue());
    }

    @Test
    void nullIsRefused() throws IOException {
        Path path = directory.resolve("a");
        assertThrows(NullPointerException.class, () -> Smallfry.writeText(null, "text"));
        assertThrows(NullPointerException.class, () -> Smallfry.writeText(path, null));
        assertThrows(NullPointerException.class, () -> Smallfry.writeBytes(path, null));
        assertThrows(NullPointerException.class, () -> Smallfry.writeText(path, "text", null));
        assertThrows(NullPointerException.class, () -> Smallfry.readAll(null));
        assertThrows(NullPointerException.class, () -> Smallfry.readAll(Arrays.asList(path, null)));
        assertThrows(NullPointerException.class, () -> Smallfry.writeAll(null));
        assertThrows(NullPointerException.class, () -> new FileEntry(path, (String) null));
        assertThrows(NullPointerException.class, () -> new FileEntry(null, "text"));
        FileEntry entry = new FileEntry(path, "text");
        assertThrows(NullPointerException.class, () -> Smallfry.writeAll(Arrays.asList(entry, null)));
        assertEquals("text", Files.readString(path));
        try (ReadStream<byte[]> stream = Smallfry.stream(Collections.singleton((Path) null).iterator())) {
            assertThrows(NullPointerException.class, stream::hasNext);
        }
    }
}
