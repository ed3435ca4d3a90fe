package io.github.singletonjob.sample.demo;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class StageDirectoryTests {

	@TempDir
	Path directory;

	@Test
	void removesTheDataOfAnEarlierDemo() throws Exception {
		Path old = Files.createDirectories(this.directory.resolve("data")).resolve("postmaster.pid");
		Files.writeString(old, ProcessHandle.current().pid() + "\n");
		try (StageDirectory stage = StageDirectory.claim(this.directory)) {
			assertThat(stage.data()).doesNotExist();
		}
	}

	@Test
	void belongsToOneDemoAtATime() throws Exception {
		try (StageDirectory stage = StageDirectory.claim(this.directory)) {
			assertThatIllegalStateException().isThrownBy(() -> StageDirectory.claim(this.directory))
				.withMessageContaining(stage.data().getParent().toString())
				.withMessageContaining("--demo.directory");
		}
		StageDirectory.claim(this.directory).close();
	}

}
