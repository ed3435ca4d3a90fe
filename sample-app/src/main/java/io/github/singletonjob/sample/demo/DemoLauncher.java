package io.github.singletonjob.sample.demo;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.core.env.Environment;

/**
 * Starts the demo: a Postgres, the lease store if it is another one, a card network and a
 * mail provider, and two servers of the company as processes of their own. The beans are
 * closed in the reverse order of their dependencies, so the servers stop first and the
 * reaper last.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableConfigurationProperties(DemoProperties.class)
class DemoLauncher {

	/**
	 * Starts the demo.
	 * @param args options; {@code --demo.…} is for the stage, all are passed on to the
	 * servers
	 */
	public static void main(String[] args) {
		SpringApplication application = new SpringApplication(DemoLauncher.class);
		application.setDefaultProperties(Map.of("spring.config.name", "demo"));
		ConfigurableApplicationContext context = application.run(args);
		boolean fenced = context.getEnvironment().getProperty("singleton-job.fencing.enabled", Boolean.class, true);
		List<String> places = new ArrayList<>();
		places.add("The books are in " + context.getBean(CompanyDatabase.class).urlWithUser());
		context.getBeanProvider(LeaseServer.class).ifAvailable((server) -> places.add(server.describe()));
		context.getBean(Narration.class).begin(places, fenced, () -> new Thread(context::close).start());
	}

	@Bean
	Terminal terminal() {
		return new Terminal(System.out);
	}

	@Bean
	Reaper reaper() {
		return Reaper.start();
	}

	@Bean
	StageDirectory stageDirectory(DemoProperties properties) {
		return StageDirectory.claim(properties.directory());
	}

	// First, because something may have to be installed for it. Null if the database
	// keeps
	// the leases.
	@Bean
	@Nullable LeaseServer leaseServer(Environment environment, StageDirectory directory, Reaper reaper) {
		return Binder.get(environment)
			.bind("singleton-job.store", StoreChoice.class)
			.orElse(StoreChoice.POSTGRES)
			.program()
			.map((program) -> LeaseServer.start(program, directory, reaper))
			.orElse(null);
	}

	@Bean
	CompanyDatabase companyDatabase(StageDirectory directory, Reaper reaper, DemoProperties properties) {
		reaper.watchDatabase(directory.data());
		CompanyDatabase database = CompanyDatabase.start(directory);
		CompanyData.create(database.dataSource(), properties.customers());
		return database;
	}

	@Bean
	OutsideWorld outsideWorld(DemoProperties properties) {
		return OutsideWorld.open(properties.cardNetworkDelay(), properties.mailProviderDelay());
	}

	@Bean
	Ledger ledger(CompanyDatabase database) {
		return new Ledger(database.dataSource());
	}

	@Bean
	ClosingWords closingWords(Ledger ledger, OutsideWorld outsideWorld, Terminal terminal) {
		return new ClosingWords(ledger, outsideWorld, terminal);
	}

	// So that the closing words are spoken after the servers have ended.
	@Bean
	@DependsOn("closingWords")
	Servers servers(List<ServerSettings> surroundings, Reaper reaper, ApplicationArguments arguments,
			Terminal terminal) {
		Servers servers = new Servers(terminal);
		servers.start(surroundings, List.of(arguments.getSourceArgs()), reaper);
		return servers;
	}

	@Bean
	Story story(Ledger ledger, Terminal terminal) {
		return new Story(ledger, terminal, InstantSource.system());
	}

	@Bean
	Narration narration(Servers servers, Story story, Terminal terminal) {
		return new Narration(servers, story, terminal);
	}

}
