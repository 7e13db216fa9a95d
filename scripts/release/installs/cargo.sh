# In a system that has only cargo: the command, and a program with the library.
mkdir -p /root/.cargo /app && cd /app
cat >/root/.cargo/config.toml <<'END'
[source.crates-io]
replace-with = "registry"
[source.registry]
directory = "/packages/registry"
END
cargo --version
cargo install -q --offline --root /usr/local smallfry-cli
smallfry --version

cargo new -q --vcs none program
cd program
cargo add -q --offline smallfry --features archive,hash,tree
cat >src/main.rs <<'END'
use smallfry::Durability;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = (0..300).map(|at| format!("dist/{at}.txt")).collect();
    let pages = paths.iter().map(|path| (path, "text"));
    let mut writer = smallfry::bulk::Writer::new();
    writer.create_parents(true).durability(Durability::Full).replace(true);
    writer.write(pages).into_result()?;
    for (_, contents) in smallfry::bulk::Reader::new().read(&paths) {
        assert_eq!(&contents?[..], b"text");
    }
    Ok(())
}
END
cargo run -q --offline
smallfry cp dist backup
smallfry mirror --delete dist backup
smallfry pack dist.zip dist
smallfry unpack -C vendor dist.zip
smallfry hash dist vendor/dist backup
smallfry rm dist vendor backup
smallfry bench --dir . write-string
