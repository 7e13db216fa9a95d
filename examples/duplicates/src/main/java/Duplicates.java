import dev.smallfry.Digest;
import dev.smallfry.ReadResult;
import dev.smallfry.Smallfry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Prints the files beneath a directory that have the same contents as another. */
public final class Duplicates {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("Usage: java Duplicates DIRECTORY");
            System.exit(2);
        }
        for (List<Path> group : find(Path.of(arguments[0]))) {
            System.out.println("The same contents:");
            group.forEach(path -> System.out.println("  " + path));
        }
    }

    /** Returns groups of files with the same contents. All files are hashed in one call. */
    static List<List<Path>> find(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> paths = Files.walk(directory)) {
            files = paths.filter(Files::isRegularFile).sorted().toList();
        }
        Map<Digest, List<Path>> groups = new LinkedHashMap<>();
        for (ReadResult<Digest> file : Smallfry.hashFiles(files)) {
            groups.computeIfAbsent(file.getValue(), digest -> new ArrayList<>()).add(file.getPath());
        }
        return groups.values().stream().filter(group -> group.size() > 1).toList();
    }
}
