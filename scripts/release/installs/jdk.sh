# In a system that has only a JDK: the jar, its one dependency, and an example in one file of Java.
mkdir -p /app/tree/inside && cd /app
java --version | head -1
echo same >tree/a
echo same >tree/inside/b
echo other >tree/c
java -cp "$(ls /packages/*.jar | tr '\n' ':')" /packages/Duplicates.java tree | tee told
grep -q 'inside/b' told
